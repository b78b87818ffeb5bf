//go:build !unix

package main

import "context"

// contextWhileRead returns ctx, on systems that report a closed pipe only on writing.
func contextWhileRead(ctx context.Context, _ any) (_ context.Context, stop func()) {
	return ctx, func() {}
}
