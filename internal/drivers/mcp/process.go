package mcp

import (
	"os"
	"os/exec"
	"runtime"
	"time"
)

// How long a server may take to end, when it is asked to by the end of its input, and then by
// a signal.
const (
	graceOfInput  = 2 * time.Second
	graceOfSignal = time.Second
)

// A process is a server that was started, and its two pipes.
type process struct {
	cmd   *exec.Cmd
	in    *os.File // it reads from this
	out   *os.File // it writes to this
	said  *said
	bound func() // lets go of what holds it
	gone  chan struct{}
}

// start starts it, so that it ends with this process.
func start(cmd *exec.Cmd, log *said) (*process, error) {
	p := &process{cmd: cmd, said: log, gone: make(chan struct{})}
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
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = itsIn, itsOut, log, time.Second
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
			end(cmd.Process, true)
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

// end ends it, and all that it has started, if it has not ended; politely where there is
// no hurry.
func (p *process) end(polite bool) {
	_ = p.in.Close()
	if polite && !p.goneWithin(graceOfInput) {
		end(p.cmd.Process, false)
		p.goneWithin(graceOfSignal)
	}
	end(p.cmd.Process, true)
	<-p.gone
	p.bound()
	_ = p.out.Close()
}

func (p *process) goneWithin(long time.Duration) bool {
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-p.gone:
		return true
	case <-timer.C:
		return false
	}
}
