//go:build unix

package process

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// closeFilesOnExec keeps files that this process inherited from reaching subprocesses: Go only
// protects files that it opened.
func closeFilesOnExec() {
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return // the files are unknown
	}
	for _, f := range open {
		if n, err := strconv.Atoi(f.Name()); err == nil && n > 2 {
			syscall.CloseOnExec(n)
		}
	}
}

// tieToParent starts a small shell that waits for the end of this process, however it ends, and
// then kills the process group. Children would otherwise survive. Without a shell only the
// process itself is tied.
func tieToParent(p *os.Process, l Limits) (letGo func(), err error) {
	if l.NoChildren || l.supervised {
		return func() {}, nil
	}
	itsIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	guard := &exec.Cmd{
		Path: "/bin/sh", Args: []string{"sh", "-c", `trap "" HUP INT TERM; read end; kill -KILL "-$0"`, strconv.Itoa(p.Pid)},
		Stdin: itsIn, Env: []string{}, SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	err = guard.Start()
	_ = itsIn.Close()
	if err != nil {
		_ = in.Close()
		return func() {}, nil //nolint:nilerr // as much as can be held is
	}
	return func() {
		_ = guard.Process.Kill()
		_ = guard.Wait()
		_ = in.Close()
	}, nil
}

// signalGroup ends the process and its group.
func signalGroup(p *os.Process, l Limits, now bool) {
	signal, id := syscall.SIGTERM, -p.Pid
	if now {
		signal = syscall.SIGKILL
	}
	if l.NoChildren {
		_ = p.Signal(signal) // Signal detects an ended process
		return
	}
	_ = syscall.Kill(id, signal)
}
