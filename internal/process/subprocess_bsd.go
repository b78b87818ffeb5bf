//go:build unix && !linux

package process

import (
	"os/exec"
	"syscall"
)

// setAttributes makes the process a group with all that it starts.
func setAttributes(cmd *exec.Cmd, l Limits) {
	closeFilesOnExec()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !l.NoChildren}
}
