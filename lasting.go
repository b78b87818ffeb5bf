package aai

import (
	"context"
	"time"
)

type lastingKey struct{}

// WithLasting returns a context whose call outlasts its request by so much, such as a task
// that its caller comes back for: a tool that says that it may last has that time.
func WithLasting(ctx context.Context, most time.Duration) context.Context {
	return context.WithValue(ctx, lastingKey{}, most)
}

// timeOf is how long the call may take.
func (p *passage) timeOf(tool *Tool) time.Duration {
	usual := timeoutOf(tool)
	if most, _ := p.door.Value(lastingKey{}).(time.Duration); tool.Lasting > 0 {
		return max(usual, min(most, tool.Lasting))
	}
	return usual
}
