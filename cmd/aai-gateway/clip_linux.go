package main

import (
	"context"
	"io"
	"os"
	"os/exec"

	"aai/internal/desktop/x11"
)

// keepClipboard makes this program a process that keeps what the gateway has put on the
// clipboard; nobody but the gateway starts it.
const keepClipboard = "keep-clipboard"

// clipKeeper is the command of such a process, with an environment.
func clipKeeper(environ func() []string) func() *exec.Cmd {
	return func() *exec.Cmd {
		cmd := exec.CommandContext(context.Background(), "/proc/self/exe", keepClipboard)
		cmd.Args[0], cmd.Env = os.Args[0], environ()
		return cmd
	}
}

// keepClip is the whole life of that process.
func keepClip(in io.Reader, out io.Writer) int {
	outlive()
	if err := x11.New(x11.Config{Getenv: os.Getenv}).KeepClip(context.Background(), in, out); err != nil {
		return 1
	}
	return 0
}
