// Package leash starts processes that do not outlive this one, whatever it dies of, nor does
// what they have started. Whose they are, and what is said over their pipes, others know.
package leash

import (
	"os"
	"os/exec"
	"runtime"
	"time"
)

// How long a process may take to end, when it is asked to by the end of its input, and then by
// a signal.
const (
	graceOfInput  = 2 * time.Second
	graceOfSignal = time.Second
	// killing is how long a guard has for its work.
	killing      = 10 * time.Second
	graceOfGuard = killing + time.Second
)

// Limits are what a process is held to from outside.
type Limits struct {
	// Alone is for one that starts no other. On Windows it cannot; elsewhere it has seen to that
	// itself, and no more than the process itself is held.
	Alone bool
	// Memory is how much it may have on Windows, in bytes; 0: as much as it wants. Elsewhere it
	// limits itself.
	Memory uintptr
	// Guard is, on Linux, the command by which this program calls [Guard] and nothing else:
	// with it, also what leaves the group of the process ends with it.
	Guard []string

	guarded bool
}

// A Process was started, and has two pipes. All methods are safe for concurrent use.
type Process struct {
	// In is what it reads from, and Out what it writes to.
	In, Out *os.File

	cmd    *exec.Cmd
	limits Limits
	letGo  func()   // of what holds it
	holder *os.File // its end is the guard's sign to end all; nil: there is no guard
	gone   chan struct{}
}

// Start starts the command with a pipe as its input and one as its output, and no other open
// file of this process but what the command names. The error is the system's; nothing runs then.
func Start(cmd *exec.Cmd, l Limits) (*Process, error) {
	p := &Process{cmd: cmd, limits: l, gone: make(chan struct{})}
	itsIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, itsOut, err := os.Pipe()
	if err != nil {
		closeAll(itsIn, in)
		return nil, err
	}
	p.In, p.Out = in, out
	var its *os.File
	if p.holder, its, err = guarded(cmd, l); err != nil {
		closeAll(itsIn, in, out, itsOut)
		return nil, err
	}
	l.guarded = p.holder != nil
	p.limits = l
	cmd.Stdin, cmd.Stdout, cmd.WaitDelay = itsIn, itsOut, time.Second
	bind(cmd, l)
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
	closeAll(itsIn, itsOut, its)
	if err == nil {
		if p.letGo, err = hold(cmd.Process, l); err != nil {
			p.Kill()
			<-p.gone
		}
	}
	if err != nil {
		closeAll(in, out, p.holder)
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

// ID is the number of the process.
func (p *Process) ID() int { return p.cmd.Process.Pid }

// Gone is closed when the process itself has ended.
func (p *Process) Gone() <-chan struct{} { return p.gone }

// State is how the process ended; nil while it runs.
func (p *Process) State() *os.ProcessState {
	select {
	case <-p.gone:
		return p.cmd.ProcessState
	default:
		return nil
	}
}

// Kill ends it, and all that it has started, at once. It does not wait.
func (p *Process) Kill() {
	if p.holder == nil {
		end(p.cmd.Process, p.limits, true)
		return
	}
	closeAll(p.holder)
	time.AfterFunc(graceOfGuard, func() {
		select {
		case <-p.gone:
		default:
			end(p.cmd.Process, p.limits, true) // it did not do its work
		}
	})
}

// End ends it, and all that it has started, if it has not ended, waits for that and closes
// the pipes. A polite end lets it go by itself for a few seconds.
func (p *Process) End(polite bool) {
	_ = p.In.Close()
	if polite && !p.GoneWithin(graceOfInput) {
		end(p.cmd.Process, p.limits, false)
		p.GoneWithin(graceOfSignal)
	}
	p.Kill()
	<-p.gone
	p.letGo()
	_ = p.Out.Close()
}

// GoneWithin waits so long at most, and reports whether the process has ended.
func (p *Process) GoneWithin(long time.Duration) bool {
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-p.gone:
		return true
	case <-timer.C:
		return false
	}
}
