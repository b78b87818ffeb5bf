package process

import (
	"os/exec"
	"syscall"
)

// setAttributes makes the process end with this one, however this one ends, and puts it and its
// children into a process group.
func setAttributes(cmd *exec.Cmd, l Limits) {
	closeFilesOnExec()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !l.NoChildren}
	if !l.supervised { // a supervisor must outlive us to do its work
		cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}
}
