package leash

import (
	"os/exec"
	"syscall"
)

// bind has the process end with this one, whatever that dies of, and be a group with all that
// it starts.
func bind(cmd *exec.Cmd, l Limits) {
	sealFiles()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !l.Alone}
	if !l.guarded { // a guard has work to do when we are gone
		cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}
}
