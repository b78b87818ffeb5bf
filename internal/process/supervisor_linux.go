package process

import (
	"bytes"
	"context"
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

// The supervisor is a second process of this program between us and the command. As subreaper it
// adopts all orphans below it, even those in sessions of their own. When its pipe from us closes,
// it ends them all.

// supervisorPipe is the descriptor of the pipe in the supervisor.
const supervisorPipe = 3

// reapInterval is the interval between two checks for remaining processes.
const reapInterval = 2 * time.Millisecond

// supervise puts the supervisor before the command. It returns the pipe's end that keeps the
// supervisor running, and the end to close after the start; nil without a supervisor.
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

// RunSupervisor runs the supervisor: it starts the program args[0] with the arguments args[1:],
// including its own name, and returns the exit status once no descendant remains. Nothing else
// may run in this process.
func RunSupervisor(args []string) (status int) {
	return runSupervisor(args, 0)
}

// RunForegroundSupervisor is [RunSupervisor] for [RunSupervised]. The command stays in the
// foreground of the terminal, and the supervisor leaves it. When the starting process asks for the
// end or has ended, the command gets SIGTERM, and SIGKILL after grace.
func RunForegroundSupervisor(args []string, grace time.Duration) (status int) {
	return runSupervisor(args, grace)
}

// RunSupervised runs a command below a supervisor, with the command's own input and outputs, and
// waits until it and all its descendants have ended. When ctx ends, it ends them. The supervisor
// also inherits the files of cmd, the command does not. It returns the exit status.
func RunSupervised(ctx context.Context, cmd *exec.Cmd, supervisor []string) (status int, err error) {
	inherited := cmd.ExtraFiles
	holder, its, err := supervise(cmd, Limits{SupervisorCommand: supervisor})
	if err != nil {
		return 0, err
	}
	defer closeAll(holder)
	cmd.ExtraFiles = append(cmd.ExtraFiles, inherited...)
	err = cmd.Start()
	_ = its.Close()
	if err != nil {
		return 0, err
	}
	defer context.AfterFunc(ctx, func() { closeAll(holder) })()
	err = cmd.Wait()
	if cmd.ProcessState == nil {
		return 0, err
	}
	if how, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && how.Signaled() {
		return 128 + int(how.Signal()), nil
	}
	return cmd.ProcessState.ExitCode(), nil
}

func runSupervisor(args []string, grace time.Duration) (status int) {
	if len(args) < 2 {
		return 2
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM) // signals are for the command
	closeFilesOnExec()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "the process cannot be held:", err)
		return 1
	}
	runtime.LockOSThread() // the command ends with this thread
	attr := &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	}
	pid, err := syscall.ForkExec(args[0], args[1:], attr) //nolint:gosec // the command is the gateway's own choice
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, args[0]+":", err)
		return 127
	}
	if grace > 0 {
		_ = syscall.Setpgid(0, 0) // a signal to the command's group must not end its supervisor
	}
	for fd := range 3 {
		_ = syscall.Close(fd) // only the command should hold them
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
	ReleaseMemory()
	select {
	case status = <-ended:
	case <-alone:
		if grace > 0 {
			_ = syscall.Kill(pid, syscall.SIGTERM)
			select {
			case status = <-ended:
			case <-time.After(grace):
			}
		}
	}
	for until := time.Now().Add(supervisorTimeout); time.Now().Before(until) && killBelow(os.Getpid()); {
		time.Sleep(reapInterval)
	}
	return status
}

// reap waits for all descendants, and sends the exit status of the process with the id pid.
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

// killBelow kills all descendants of a process, and reports whether there were any.
func killBelow(root int) bool {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return false
	}
	// A dead process stays in parents: one with threads that have not ended yet still has its children.
	parents, dead := make(map[int]int, len(stats)), make(map[int]bool)
	for _, stat := range stats {
		b, err := os.ReadFile(stat)
		if err != nil {
			continue
		}
		// The name in parentheses may contain any character.
		fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
		const threads = 20 - 3 // the field of proc(5), without the first ones
		if len(fields) > threads {
			parents[pid], _ = strconv.Atoi(string(fields[1]))
			dead[pid] = fields[0][0] == 'Z' && len(fields[threads]) == 1 && fields[threads][0] <= '1'
		}
	}
	some := false
	for pid := range parents {
		for above, steps := parents[pid], 0; above > 1 && steps < 1000; above, steps = parents[above], steps+1 {
			if above == root && !dead[pid] {
				some = syscall.Kill(pid, syscall.SIGKILL) == nil || some
				break
			}
		}
	}
	return some
}
