package gateway

import (
	"context"
	"time"
)

// clientEndGrace is how long a question to the person stays open after the client has closed its input. A command that sends
// a call and closes its input does so at once, so that the person had no time to answer anything before.
const clientEndGrace = 2 * time.Second

type clientEndKey struct{}

// WithClientEnd returns a context for calls of a client that closes the channel when it sends nothing more: it may have
// ended. Questions to the person about these calls then end soon, so that a late answer runs nothing. Calls that run go on.
func WithClientEnd(ctx context.Context, ended <-chan struct{}) context.Context {
	return context.WithValue(ctx, clientEndKey{}, ended)
}

// whileClientLasts returns a context that is cancelled a while after the client of the call has closed its input.
func whileClientLasts(ctx context.Context) (context.Context, context.CancelFunc) {
	ended, _ := ctx.Value(clientEndKey{}).(<-chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	if ended == nil {
		return ctx, cancel
	}
	go func() {
		select {
		case <-ended:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(clientEndGrace):
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
