package demo

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// adoptOrphans makes this program the parent of orphaned descendants (prctl(2),
// PR_SET_CHILD_SUBREAPER): an agent's programs outlive the gateway, but must not outlive the demo.
func adoptOrphans() error {
	const setChildSubreaper = 36
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0); errno != 0 {
		return errno
	}
	return nil
}

// endOrphans kills all children of this program. Children of killed processes become its children
// too.
func endOrphans() {
	for until := time.Now().Add(startTimeout); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		children := childrenOf(os.Getpid())
		if len(children) == 0 {
			return
		}
		for _, child := range children {
			_ = syscall.Kill(child, syscall.SIGKILL)
			_, _ = syscall.Wait4(child, nil, syscall.WNOHANG, nil)
		}
	}
}

// childrenOf lists the processes with the given parent (proc(5)).
func childrenOf(parent int) []int {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil
	}
	var children []int
	for _, stat := range stats {
		b, err := os.ReadFile(stat)
		if err != nil {
			continue // it has ended
		}
		// The name, in parentheses, may hold anything; state and parent follow it.
		fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
		if len(fields) < 2 || string(fields[1]) != strconv.Itoa(parent) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(stat))); err == nil {
			children = append(children, pid)
		}
	}
	return children
}
