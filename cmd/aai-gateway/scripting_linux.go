package main

import (
	"context"
	"os"
	"os/exec"
)

// scriptChild returns the command of a script process: this program itself, even if its file was
// replaced, and without inherited file descriptors.
func scriptChild() *exec.Cmd {
	closeOnExec()
	cmd := exec.CommandContext(context.Background(), "/proc/self/exe", runScriptCommand)
	cmd.Args[0] = os.Args[0]
	return cmd
}
