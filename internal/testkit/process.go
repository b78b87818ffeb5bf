// Package childtest starts processes that tests talk with.
package testkit

import (
	"bufio"
	"errors"
	"io"
	"os/exec"
	"strings"
)

// TB is what is asked of a test: of package testing, or of rapid.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
}

// A Process has been started; the test has the other ends of its pipes.
type Process struct {
	*exec.Cmd
	In  io.WriteCloser
	Out *bufio.Reader
}

// StartProcess starts a process. Who calls it ends the process, as by Close or Kill.
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

// ReadLine is the next line that it says.
func (p *Process) ReadLine(t TB) string {
	t.Helper()
	line, err := p.Out.ReadString('\n')
	if err != nil {
		t.Fatalf("%s says %q, and %v", p, line, err)
	}
	return strings.TrimSuffix(line, "\n")
}

// Close closes its standard input, which ends most, and waits for it.
func (p *Process) Close() error {
	_ = p.In.Close()
	return p.Wait()
}

// Kill kills it and waits for it.
func (p *Process) Kill() {
	_ = p.Process.Kill() // it may have ended
	_ = p.Wait()
}
