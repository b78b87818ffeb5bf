package mcp

import (
	"os"
	"os/exec"
	"syscall"
)

// bind has the server end with this process, whatever that dies of, and be a group with all
// that it starts.
func bind(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func hold(*os.Process) (letGo func(), err error) { return func() {}, nil }

// end ends the server and its group.
func end(p *os.Process, now bool) { endGroup(p, now) }
