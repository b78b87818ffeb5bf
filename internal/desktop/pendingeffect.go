package desktop

import "context"

type pendingEffectKey struct{}

// WithPendingEffect is a context for the looks of who has just made a program do something and
// waits for what comes of it. Of a program that is long to read, and tells of nearly all
// that changes in it, Tree.Snapshot then has only what it told of; the next look without
// it has the rest.
func WithPendingEffect(ctx context.Context) context.Context {
	return context.WithValue(ctx, pendingEffectKey{}, true)
}

// HasPendingEffect reports whether the context is one of Awaiting.
func HasPendingEffect(ctx context.Context) bool {
	awaits, _ := ctx.Value(pendingEffectKey{}).(bool)
	return awaits
}
