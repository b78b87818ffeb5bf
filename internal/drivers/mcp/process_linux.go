package mcp

import (
	"os/exec"
	"syscall"
)

// bind has the server end with this process, whatever that dies of, and be a group with all
// that it starts.
func bind(cmd *exec.Cmd) {
	sealFiles()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
