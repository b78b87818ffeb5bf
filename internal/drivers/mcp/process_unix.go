//go:build unix

package mcp

import (
	"os"
	"syscall"
)

func endGroup(p *os.Process, now bool) {
	signal := syscall.SIGTERM
	if now {
		signal = syscall.SIGKILL
	}
	_ = syscall.Kill(-p.Pid, signal)
}
