//go:build unix && !linux

package mcp

import (
	"os/exec"
	"syscall"
)

// bind makes the server a group with all that it starts.
func bind(cmd *exec.Cmd) {
	sealFiles()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}
