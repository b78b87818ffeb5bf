package script

import (
	"os"
	"os/exec"
	"runtime"
	"time"
)

// A process is a child that runs a script, and its two pipes.
type process struct {
	cmd   *exec.Cmd
	in    *os.File // it reads from this
	out   *os.File // it writes to this
	last  *tail
	bound func() // lets go of what holds it
	gone  chan struct{}
}

// start starts it, with nothing but the pipes, so that it ends with this process.
func start(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, last: &tail{}, gone: make(chan struct{})}
	itsIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, itsOut, err := os.Pipe()
	if err != nil {
		closeAll(itsIn, in)
		return nil, err
	}
	p.in, p.out = in, out
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env, cmd.Dir, cmd.WaitDelay = itsIn, itsOut, p.last, []string{}, root, time.Second
	bind(cmd)
	started := make(chan error)
	go func() {
		// The system ends it with the thread that has started it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // what it says is in cmd.ProcessState
			close(p.gone)
		}
	}()
	err = <-started
	closeAll(itsIn, itsOut)
	if err == nil {
		if p.bound, err = hold(cmd.Process); err != nil {
			p.kill()
			<-p.gone
		}
	}
	if err != nil {
		closeAll(in, out)
		return nil, err
	}
	return p, nil
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

func (p *process) kill() { _ = p.cmd.Process.Kill() }

// end ends it, if it has not ended, and lets go of all that is of it.
func (p *process) end() {
	p.kill()
	<-p.gone
	p.bound()
	closeAll(p.in, p.out)
}

// tail keeps the beginning of what a process says when it breaks.
type tail struct{ text []byte }

// maxTail is how much of that is kept.
const maxTail = 4 << 10

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.text = append(t.text, b[:min(len(b), maxTail-len(t.text))]...)
	return len(b), nil
}
