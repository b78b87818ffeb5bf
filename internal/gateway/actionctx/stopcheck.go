// Package actionctx holds the functions by which code below an Action concerns the call that runs it,
// by the Action's context. Without such a call they do nothing.
package actionctx

import "context"

type stopCheckKey struct{}

// WithStopCheck returns a context in which [CheckStopped] calls check.
func WithStopCheck(ctx context.Context, check func() error) context.Context {
	return context.WithValue(ctx, stopCheckKey{}, check)
}

// CheckStopped returns an *aai.Error if a person has stopped the call of the context. An Action of
// many steps calls it between two of them. Outside of an Action it returns nil.
func CheckStopped(ctx context.Context) error {
	if check, _ := ctx.Value(stopCheckKey{}).(func() error); check != nil {
		return check()
	}
	return nil
}
