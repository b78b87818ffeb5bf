//go:build !linux

package main

import (
	"cmp"
	"context"
	"os"
	"os/exec"
)

// scriptChild returns the command of a script process.
func scriptChild() *exec.Cmd {
	path, _ := os.Executable()
	return exec.CommandContext(context.Background(), cmp.Or(path, os.Args[0]), runScriptCommand)
}
