package process

import (
	"os/exec"
	"syscall"
)

// setAttributes has the process end with this one, whatever that dies of, and be a group with all that
// it starts.
func setAttributes(cmd *exec.Cmd, l Limits) {
	closeFilesOnExec()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !l.NoChildren}
	if !l.supervised { // a guard has work to do when we are gone
		cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}
}
