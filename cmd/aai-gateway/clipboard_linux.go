package main

import (
	"context"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gybob/aai-gateway/internal/platform/linux/session"
	"github.com/gybob/aai-gateway/internal/platform/linux/wayland"
	"github.com/gybob/aai-gateway/internal/platform/linux/x11"
)

// clipboardArgument is the argument that makes this program a clipboard server. Only the gateway
// starts it.
const clipboardArgument = "keep-clipboard"

// clipboardCommand returns the command of a clipboard server for the screen of a variable, DISPLAY or WAYLAND_DISPLAY,
// which outlives the gateway. It inherits the variables for the screen, but no secrets and no other variables.
func clipboardCommand(environ func() []string, screen string) func() *exec.Cmd {
	return func() *exec.Cmd {
		closeOnExec()
		cmd := exec.CommandContext(context.Background(), "/proc/self/exe", clipboardArgument)
		cmd.Args[0], cmd.Env = os.Args[0], forScreen(environ(), screen)
		return cmd
	}
}

// forScreen returns the variables for access to the user's screen.
func forScreen(environ []string, screen string) []string {
	names := []string{screen, "XAUTHORITY", "HOME", "PATH", "XDG_RUNTIME_DIR", session.PrivateMark}
	return slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return !slices.Contains(names, name)
	})
}

// closeOnExec marks inherited file descriptors to close in child processes. Descriptors opened by
// Go have the mark already.
func closeOnExec() {
	if unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	open, _ := os.ReadDir("/proc/self/fd") // a kernel before 5.11
	for _, entry := range open {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}

// serveClipboard runs the clipboard server.
func serveClipboard(in io.Reader, out io.Writer) int {
	ignoreBrokenPipe()
	serve := x11.New(x11.Config{Getenv: os.Getenv}).ServeClip
	if compositor := wayland.New(wayland.Config{Getenv: os.Getenv}); compositor.IsOffered() {
		serve = compositor.ServeClip
	}
	if err := serve(context.Background(), in, out); err != nil {
		return 1
	}
	return 0
}
