package testkit

import (
	"bufio"
	"errors"
	"io"
	"os/exec"
	"strings"
)

// TB is the part of testing.TB that the functions for processes need; *rapid.T also implements it.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
}

// A Process is a started process with pipes to the test.
type Process struct {
	*exec.Cmd
	In  io.WriteCloser
	Out *bufio.Reader
}

// StartProcess starts a process. The caller must end it, with Close or Kill.
func StartProcess(t TB, cmd *exec.Cmd) *Process {
	t.Helper()
	in, noIn := cmd.StdinPipe()
	out, noOut := cmd.StdoutPipe()
	if err := errors.Join(noIn, noOut); err != nil {
		t.Fatalf("%v", err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v", err)
	}
	return &Process{cmd, in, bufio.NewReader(out)}
}

// ReadLine returns the process's next line of output.
func (p *Process) ReadLine(t TB) string {
	t.Helper()
	line, err := p.Out.ReadString('\n')
	if err != nil {
		t.Fatalf("%s says %q, and %v", p, line, err)
	}
	return strings.TrimSuffix(line, "\n")
}

// Close closes the standard input of the process, which ends most programs, and waits for its end.
func (p *Process) Close() error {
	_ = p.In.Close()
	return p.Wait()
}

// Kill kills the process and waits for its end.
func (p *Process) Kill() {
	_ = p.Process.Kill() // it may have ended
	_ = p.Wait()
}
