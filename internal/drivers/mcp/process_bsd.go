//go:build unix && !linux

package mcp

import (
	"os"
	"os/exec"
	"syscall"
)

// bind makes the server a group with all that it starts: it ends when its input does.
func bind(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func hold(*os.Process) (letGo func(), err error) { return func() {}, nil }

// end ends the server and its group.
func end(p *os.Process, now bool) { endGroup(p, now) }
