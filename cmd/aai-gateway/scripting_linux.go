package main

import (
	"context"
	"os"
	"os/exec"
)

// scriptChild is the command of a process that runs a script: of this very program, whatever
// lies by now where it was started from, and without what others left open for us.
func scriptChild() *exec.Cmd {
	closeOnExec()
	cmd := exec.CommandContext(context.Background(), "/proc/self/exe", runScriptCommand)
	cmd.Args[0] = os.Args[0]
	return cmd
}
