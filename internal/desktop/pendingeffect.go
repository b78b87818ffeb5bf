package desktop

import "context"

type pendingEffectKey struct{}

// WithPendingEffect returns a context for snapshots of a caller that waits for the effect of its last
// action. For a program that is slow to read and sends events for nearly all changes, Tree.Snapshot then
// reads only the reported changes. The next snapshot without this context reads the rest.
func WithPendingEffect(ctx context.Context) context.Context {
	return context.WithValue(ctx, pendingEffectKey{}, true)
}

// HasPendingEffect reports whether the context comes from [WithPendingEffect].
func HasPendingEffect(ctx context.Context) bool {
	awaits, _ := ctx.Value(pendingEffectKey{}).(bool)
	return awaits
}
