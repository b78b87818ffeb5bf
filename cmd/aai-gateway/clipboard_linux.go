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
	"github.com/gybob/aai-gateway/internal/platform/linux/x11"
)

// clipboardArgument makes this program a process that keeps what the gateway has put on the
// clipboard; nobody but the gateway starts it.
const clipboardArgument = "keep-clipboard"

// clipboardCommand is the command of such a process, which outlives the gateway: it has what
// leads to the screen, and neither secrets nor what else the gateway was started with.
func clipboardCommand(environ func() []string) func() *exec.Cmd {
	return func() *exec.Cmd {
		closeOnExec()
		cmd := exec.CommandContext(context.Background(), "/proc/self/exe", clipboardArgument)
		cmd.Args[0], cmd.Env = os.Args[0], forScreen(environ())
		return cmd
	}
}

// forScreen are the variables that lead to the person's screen.
func forScreen(environ []string) []string {
	names := []string{"DISPLAY", "XAUTHORITY", "HOME", "PATH", "XDG_RUNTIME_DIR", session.PrivateMark}
	return slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return !slices.Contains(names, name)
	})
}

// closeOnExec has what others left open for us end here: what we open ourselves no
// program that we start inherits anyway.
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

// serveClipboard is the whole life of that process.
func serveClipboard(in io.Reader, out io.Writer) int {
	ignoreBrokenPipe()
	if err := x11.New(x11.Config{Getenv: os.Getenv}).ServeClip(context.Background(), in, out); err != nil {
		return 1
	}
	return 0
}
