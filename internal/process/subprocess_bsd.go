//go:build unix && !linux

package process

import (
	"os/exec"
	"syscall"
)

// setAttributes puts the process and its children into a process group.
func setAttributes(cmd *exec.Cmd, l Limits) {
	closeFilesOnExec()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !l.NoChildren}
}
