package process

import (
	"os"
	"os/exec"
	"runtime"
	"time"
)

// The time limits for a process to end, after the end of its input, and then after a signal.
const (
	inputGrace  = 2 * time.Second
	signalGrace = time.Second
	// supervisorTimeout is the time limit for a supervisor to end all processes.
	supervisorTimeout = 10 * time.Second
	supervisorGrace   = supervisorTimeout + time.Second
)

// Limits are restrictions of a subprocess.
type Limits struct {
	// NoChildren is for a process that starts no other. Windows enforces it; elsewhere the
	// process must restrict itself, and only the process itself is tied to this one.
	NoChildren bool
	// FreeChildren leaves the processes that it starts alone when it ends. Only Windows supports it.
	FreeChildren bool
	// Memory is the memory limit on Windows, in bytes; 0 means none. Elsewhere the process must
	// limit itself.
	Memory uintptr
	// SupervisorCommand is, on Linux, the command by which this program runs only
	// [RunSupervisor]. With it, processes that leave the process group end too.
	SupervisorCommand []string

	supervised bool
}

// A Subprocess is a started process with two pipes. All methods are safe for concurrent use.
type Subprocess struct {
	// Stdin is the writing end of its input, and Stdout the reading end of its output.
	Stdin, Stdout *os.File

	cmd            *exec.Cmd
	limits         Limits
	release        func()   // releases the tie to this process
	supervisorPipe *os.File // closing it makes the supervisor end all; nil: there is no supervisor
	exited         chan struct{}
}

// Start starts the command with pipes as its input and output. The process inherits no other open
// file except those in cmd. On an error nothing runs.
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
		// Linux ends the process with the thread that started it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // its result is in cmd.ProcessState
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

// PID returns the process id.
func (p *Subprocess) PID() int { return p.cmd.Process.Pid }

// Exited returns a channel that is closed when the process itself has ended.
func (p *Subprocess) Exited() <-chan struct{} { return p.exited }

// State returns the final state of the process, or nil while it runs.
func (p *Subprocess) State() *os.ProcessState {
	select {
	case <-p.exited:
		return p.cmd.ProcessState
	default:
		return nil
	}
}

// Kill ends the process and all its children at once, without waiting.
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
			signalGroup(p.cmd.Process, p.limits, true) // the supervisor failed
		}
	})
}

// Stop ends the process and all its children, waits for that and closes the pipes. If polite, Stop
// first gives the process a few seconds to end by itself.
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

// WaitExit waits at most for the duration, and reports whether the process has ended.
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
