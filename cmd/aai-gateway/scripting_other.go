//go:build !linux

package main

import (
	"cmp"
	"context"
	"os"
	"os/exec"
)

// scriptChild is the command of a process that runs a script.
func scriptChild() *exec.Cmd {
	path, _ := os.Executable()
	return exec.CommandContext(context.Background(), cmp.Or(path, os.Args[0]), runScriptCommand)
}
