//go:build unix && !linux

package leash

import (
	"os/exec"
	"syscall"
)

// bind makes the process a group with all that it starts.
func bind(cmd *exec.Cmd, l Limits) {
	sealFiles()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !l.Alone}
}
