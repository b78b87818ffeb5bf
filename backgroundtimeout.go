package aai

import (
	"context"
	"time"
)

type backgroundTimeoutKey struct{}

// WithBackgroundTimeout returns a context whose call outlasts its request by so much, such as a task
// that its caller comes back for: a tool that says that it may last has that time.
func WithBackgroundTimeout(ctx context.Context, most time.Duration) context.Context {
	return context.WithValue(ctx, backgroundTimeoutKey{}, most)
}

// effectiveTimeout is how long the call may take.
func (p *invocation) effectiveTimeout(tool *Tool) time.Duration {
	usual := foregroundTimeout(tool)
	if most, _ := p.ctx.Value(backgroundTimeoutKey{}).(time.Duration); tool.BackgroundTimeout > 0 {
		return max(usual, min(most, tool.BackgroundTimeout))
	}
	return usual
}
