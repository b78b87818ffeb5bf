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

// contextWhileRead returns a context that ends when the reader of out has gone. It works for
// pipes, sockets and terminals; for a file it never ends. stop ends the watching.
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

// hangupDelay is the delay before the watching begins. A blocking system call holds one of Go's
// processors for ten milliseconds, which would delay the client's first request.
const hangupDelay = time.Second

// waitForHangup waits until fd has no reader, which it reports as true, or until the other end of until
// is closed.
func waitForHangup(fd, until int32) bool {
	fds := []unix.PollFd{{Fd: fd}, {Fd: until}} // no events requested: hangups are always reported
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
