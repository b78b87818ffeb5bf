package gateway

import (
	"context"
	"time"

	"github.com/gybob/aai-gateway"
)

type backgroundTimeoutKey struct{}

// WithBackgroundTimeout returns a context for a call that continues after its request ends, such
// as a task. Its limit is the shorter of most and the tool's Limits.Background, but at least the
// tool's Timeout.
func WithBackgroundTimeout(ctx context.Context, most time.Duration) context.Context {
	return context.WithValue(ctx, backgroundTimeoutKey{}, most)
}

// effectiveTimeout returns the time limit of the call.
func (p *invocation) effectiveTimeout(tool *aai.Tool) time.Duration {
	usual := foregroundTimeout(tool)
	if most, _ := p.ctx.Value(backgroundTimeoutKey{}).(time.Duration); tool.Limits.Background > 0 {
		return max(usual, min(most, tool.Limits.Background))
	}
	return usual
}

func foregroundTimeout(tool *aai.Tool) time.Duration {
	if tool.Limits.Timeout <= 0 {
		return aai.DefaultTimeout
	}
	return tool.Limits.Timeout
}
