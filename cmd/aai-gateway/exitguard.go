package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"
)

// exitTimeout is how long the program may take to end after its client has left or a signal came. The door needs two
// seconds for calls under way.
const exitTimeout = 15 * time.Second

// exitIfHung ends the process when it has not ended exitTimeout after ctx, unless stop was called. A part of the program
// that hangs must not keep it alive without a client.
func exitIfHung(ctx context.Context, messages io.Writer) (stop func()) {
	ended := make(chan struct{})
	go func() {
		select {
		case <-ctx.Done():
		case <-ended:
			return
		}
		select {
		case <-time.After(exitTimeout):
			_, _ = fmt.Fprintf(messages, "aai-gateway: it did not end by itself within %s, since a part of it hangs\n", exitTimeout)
			os.Exit(exitHung)
		case <-ended:
		}
	}()
	return func() { close(ended) }
}

// exitHung is the exit status of a program that hangs: INTERNAL.
const exitHung = 70
