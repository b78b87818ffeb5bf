//go:build unix

package main

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gybob/aai-gateway"
)

// contextWhileRead returns a context that ends when nobody can read out any more: who is
// at its other end has gone. It does so for pipes, sockets and terminals; a file is
// read by nobody and never ends. Stop ends the watching.
func contextWhileRead(ctx context.Context, out any) (_ context.Context, stop func()) {
	file, ok := out.(*os.File)
	if !ok {
		return ctx, func() {}
	}
	conn, err := file.SyscallConn()
	if err != nil {
		return ctx, func() {}
	}
	wake, sleeper, err := os.Pipe()
	if err != nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer func() { _ = wake.Close() }()
		other, err := wake.SyscallConn()
		if err != nil || aai.Sleep(ctx, hangupDelay) != nil {
			return
		}
		_ = conn.Control(func(fd uintptr) {
			_ = other.Control(func(until uintptr) {
				if waitForHangup(int32(fd), int32(until)) {
					cancel()
				}
			})
		})
	}()
	return ctx, func() { cancel(); _ = sleeper.Close() }
}

// hangupDelay is when the watching begins. Who waits in the system keeps a processor of Go's for
// ten milliseconds, and of two the other one reads what the client says: its first request
// would wait.
const hangupDelay = time.Second

// waitForHangup waits until nobody reads fd any more, or until is closed at its other end.
func waitForHangup(fd, until int32) bool {
	fds := []unix.PollFd{{Fd: fd}, {Fd: until}} // what is asked for is nothing: an end is told of in any case
	for {
		if _, err := unix.Poll(fds, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return false
		}
		if fds[1].Revents != 0 {
			return false
		}
		if fds[0].Revents != 0 {
			return fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
		}
	}
}
