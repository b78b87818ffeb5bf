//go:build !unix

package main

import "context"

// contextWhileRead is for systems that say of a pipe that nobody reads it only when it is
// written.
func contextWhileRead(ctx context.Context, _ any) (_ context.Context, stop func()) {
	return ctx, func() {}
}
