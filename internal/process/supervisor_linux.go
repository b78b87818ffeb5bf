package process

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The guard of a process is this program once more, between us and the process. It is the
// one to whom all belong that lose their parents below it, also those that make themselves
// a session of their own, and it has a pipe from us that ends with us: then it ends them all.

// supervisorPipe is the number of the pipe's end in the guard.
const supervisorPipe = 3

// reapInterval is how long it is between two looks at what is left.
const reapInterval = 2 * time.Millisecond

// supervise puts the guard in front of the command. It returns the end of the pipe that holds
// the guard, and what is to be closed when it runs; nil and nothing where there is no guard.
func supervise(cmd *exec.Cmd, l Limits) (holder, its *os.File, err error) {
	if len(l.SupervisorCommand) == 0 || l.NoChildren {
		return nil, nil, nil
	}
	if cmd.Err != nil {
		return nil, nil, cmd.Err
	}
	if its, holder, err = os.Pipe(); err != nil {
		return nil, nil, err
	}
	cmd.Args = append(append(append([]string(nil), l.SupervisorCommand...), cmd.Path), cmd.Args...)
	cmd.Path, cmd.ExtraFiles = l.SupervisorCommand[0], []*os.File{its}
	return holder, its, nil
}

// RunSupervisor is the life of a guard: it starts the program at args[0] with the arguments from
// args[1] on, its own name first, and returns the status that it ends with, when nothing of
// it is left. Nothing else may run in this process.
func RunSupervisor(args []string) (status int) {
	if len(args) < 2 {
		return 2
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM) // they are for the process
	syscall.CloseOnExec(supervisorPipe)
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "the process cannot be held:", err)
		return 1
	}
	runtime.LockOSThread() // with which the process ends
	pid, err := syscall.ForkExec(args[0], args[1:], &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, args[0]+":", err)
		return 127
	}
	for fd := range 3 {
		_ = syscall.Close(fd) // they end with the process
	}
	ended, alone := make(chan int, 1), make(chan struct{})
	go func() {
		var b [1]byte
		for {
			if n, err := syscall.Read(supervisorPipe, b[:]); n == 0 || err != nil && err != syscall.EINTR {
				close(alone)
				return
			}
		}
	}()
	go reap(pid, ended)
	releaseMemory()
	select {
	case status = <-ended:
	case <-alone:
	}
	for until := time.Now().Add(supervisorTimeout); time.Now().Before(until) && killBelow(os.Getpid()); {
		time.Sleep(reapInterval)
	}
	return status
}

// reap takes note of all that ends, and says how the process did.
func reap(pid int, ended chan<- int) {
	for {
		var how syscall.WaitStatus
		switch got, err := syscall.Wait4(-1, &how, 0, nil); {
		case err != nil:
			time.Sleep(reapInterval)
		case got == pid && how.Signaled():
			ended <- 128 + int(how.Signal())
		case got == pid:
			ended <- how.ExitStatus()
		}
	}
}

// killBelow kills all processes below one, and reports whether there were any.
func killBelow(root int) bool {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return false
	}
	parents := make(map[int]int, len(stats))
	for _, stat := range stats {
		b, err := os.ReadFile(stat)
		if err != nil {
			continue
		}
		// The name in brackets may hold anything.
		fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
		if len(fields) > 1 && fields[0][0] != 'Z' {
			parents[pid], _ = strconv.Atoi(string(fields[1]))
		}
	}
	some := false
	for pid := range parents {
		for above, steps := parents[pid], 0; above > 1 && steps < 1000; above, steps = parents[above], steps+1 {
			if above == root {
				some = syscall.Kill(pid, syscall.SIGKILL) == nil || some
				break
			}
		}
	}
	return some
}
