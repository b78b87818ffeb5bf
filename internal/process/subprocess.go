// Package leash starts processes that do not outlive this one, whatever it dies of, nor does
// what they have started. Whose they are, and what is said over their pipes, others know.
package process

import (
	"os"
	"os/exec"
	"runtime"
	"time"
)

// How long a process may take to end, when it is asked to by the end of its input, and then by
// a signal.
const (
	inputGrace  = 2 * time.Second
	signalGrace = time.Second
	// supervisorTimeout is how long a guard has for its work.
	supervisorTimeout = 10 * time.Second
	supervisorGrace   = supervisorTimeout + time.Second
)

// Limits are what a process is held to from outside.
type Limits struct {
	// NoChildren is for one that starts no other. On Windows it cannot; elsewhere it has seen to that
	// itself, and no more than the process itself is held.
	NoChildren bool
	// Memory is how much it may have on Windows, in bytes; 0: as much as it wants. Elsewhere it
	// limits itself.
	Memory uintptr
	// SupervisorCommand is, on Linux, the command by which this program calls [RunSupervisor] and nothing else:
	// with it, also what leaves the group of the process ends with it.
	SupervisorCommand []string

	supervised bool
}

// A Process was started, and has two pipes. All methods are safe for concurrent use.
type Subprocess struct {
	// Stdin is what it reads from, and Out what it writes to.
	Stdin, Stdout *os.File

	cmd            *exec.Cmd
	limits         Limits
	release        func()   // of what holds it
	supervisorPipe *os.File // its end is the guard's sign to end all; nil: there is no guard
	exited         chan struct{}
}

// Start starts the command with a pipe as its input and one as its output, and no other open
// file of this process but what the command names. The error is the system's; nothing runs then.
func Start(cmd *exec.Cmd, l Limits) (*Subprocess, error) {
	p := &Subprocess{cmd: cmd, limits: l, exited: make(chan struct{})}
	itsIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, itsOut, err := os.Pipe()
	if err != nil {
		closeAll(itsIn, in)
		return nil, err
	}
	p.Stdin, p.Stdout = in, out
	var its *os.File
	if p.supervisorPipe, its, err = supervise(cmd, l); err != nil {
		closeAll(itsIn, in, out, itsOut)
		return nil, err
	}
	l.supervised = p.supervisorPipe != nil
	p.limits = l
	cmd.Stdin, cmd.Stdout, cmd.WaitDelay = itsIn, itsOut, time.Second
	setAttributes(cmd, l)
	started := make(chan error)
	go func() {
		// The system ends it with the thread that has started it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // what it says is in cmd.ProcessState
			close(p.exited)
		}
	}()
	err = <-started
	closeAll(itsIn, itsOut, its)
	if err == nil {
		if p.release, err = tieToParent(cmd.Process, l); err != nil {
			p.Kill()
			<-p.exited
		}
	}
	if err != nil {
		closeAll(in, out, p.supervisorPipe)
		return nil, err
	}
	return p, nil
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// PID is the number of the process.
func (p *Subprocess) PID() int { return p.cmd.Process.Pid }

// Exited is closed when the process itself has ended.
func (p *Subprocess) Exited() <-chan struct{} { return p.exited }

// State is how the process ended; nil while it runs.
func (p *Subprocess) State() *os.ProcessState {
	select {
	case <-p.exited:
		return p.cmd.ProcessState
	default:
		return nil
	}
}

// Kill ends it, and all that it has started, at once. It does not wait.
func (p *Subprocess) Kill() {
	if p.supervisorPipe == nil {
		signalGroup(p.cmd.Process, p.limits, true)
		return
	}
	closeAll(p.supervisorPipe)
	time.AfterFunc(supervisorGrace, func() {
		select {
		case <-p.exited:
		default:
			signalGroup(p.cmd.Process, p.limits, true) // it did not do its work
		}
	})
}

// Stop ends it, and all that it has started, if it has not ended, waits for that and closes
// the pipes. A polite end lets it go by itself for a few seconds.
func (p *Subprocess) Stop(polite bool) {
	_ = p.Stdin.Close()
	if polite && !p.WaitExit(inputGrace) {
		signalGroup(p.cmd.Process, p.limits, false)
		p.WaitExit(signalGrace)
	}
	p.Kill()
	<-p.exited
	p.release()
	_ = p.Stdout.Close()
}

// WaitExit waits so long at most, and reports whether the process has ended.
func (p *Subprocess) WaitExit(long time.Duration) bool {
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}
