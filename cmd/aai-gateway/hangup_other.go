//go:build !unix

package main

import "context"

// whileRead is for systems that say of a pipe that nobody reads it only when it is
// written.
func whileRead(ctx context.Context, _ any) (_ context.Context, stop func()) {
	return ctx, func() {}
}
