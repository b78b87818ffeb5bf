package audit

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestSystemCallsOfARecord counts the file system calls of a record, seen from another
// process: the lock, the write, and the unlock. Other counted calls would show that each
// record checks the path.
func TestSystemCallsOfARecord(t *testing.T) {
	path := journalPath(t)
	assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	calls := traced(t, filepath.Dir(path), "one after another")
	begin := slices.Index(calls, syscall.SYS_GETPGRP)
	end := slices.Index(calls[begin+1:], syscall.SYS_GETPGRP) + begin + 1
	assert.Assert(t, begin >= 0, "the records are from %d to %d of %d calls", begin, end, len(calls))
	assert.Assert(t, end > begin, "the records are from %d to %d of %d calls", begin, end, len(calls))
	count := make(map[uint64]int)
	for _, n := range calls[begin+1 : end] {
		count[n]++
	}
	for n, want := range map[uint64]int{
		syscall.SYS_FLOCK: 2, syscall.SYS_WRITE: 1, syscall.SYS_PWRITE64: 0, syscall.SYS_READ: 0, syscall.SYS_PREAD64: 0,
		syscall.SYS_OPENAT: 0, syscall.SYS_CLOSE: 0, syscall.SYS_STAT: 0, syscall.SYS_LSTAT: 0, syscall.SYS_FSTAT: 0,
		syscall.SYS_NEWFSTATAT: 0, syscall.SYS_LSEEK: 0, syscall.SYS_FSYNC: 0, syscall.SYS_FTRUNCATE: 0, syscall.SYS_FCNTL: 0,
		syscall.SYS_MSYNC: 0,
	} {
		assert.Check(t, is.Equal(count[n], want*tracedRecords), "system call %d: %d times for %d records, expected %d", n, count[n], tracedRecords, want*tracedRecords)
	}
}

// tracedRecords is too small for an anchor to be due.
const tracedRecords = 50

// recordBetweenMarks makes records between two system calls that are otherwise unused.
func recordBetweenMarks(path string) error {
	j := New(path)
	j.stateFile.recheckInterval = time.Hour
	if err := j.Record(nil, reading("first")); err != nil { //nolint:staticcheck // Record has no use for a context
		return err
	}
	_, _, _ = syscall.RawSyscall(syscall.SYS_GETPGRP, 0, 0, 0)
	for i := range tracedRecords {
		if err := j.Record(nil, reading("c"+strconv.Itoa(i))); err != nil { //nolint:staticcheck // as above
			return err
		}
	}
	_, _, _ = syscall.RawSyscall(syscall.SYS_GETPGRP, 0, 0, 0)
	return j.Close()
}

// traced runs this test binary as another process and returns the system calls of all its
// threads.
func traced(t *testing.T, folder, what string) (calls []uint64) {
	t.Helper()
	runtime.LockOSThread() // only the thread that began it may trace it
	defer runtime.UnlockOSThread()
	self, err := os.Executable()
	assert.NilError(t, err)
	c := exec.CommandContext(t.Context(), self)
	c.Dir, c.Stderr = folder, os.Stderr
	c.Env = append(os.Environ(), "JOURNAL_TEST_CHILD="+what, "GOGC=off")
	c.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Pdeathsig: syscall.SIGKILL}
	assert.NilError(t, c.Start())
	const killWithUs = 0x100000 // PTRACE_O_EXITKILL
	inside, first := make(map[int]bool), true
	for {
		var status syscall.WaitStatus
		thread, err := syscall.Wait4(-1, &status, syscall.WALL, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			t.Fatal(err)
		case status.Exited() || status.Signaled():
			if thread != c.Process.Pid {
				continue
			}
			assert.Equal(t, status.ExitStatus(), 0, "it ended with %d", status.ExitStatus())
			return calls
		}
		signal := status.StopSignal()
		switch {
		case first:
			first, signal = false, 0
			options := syscall.PTRACE_O_TRACESYSGOOD | syscall.PTRACE_O_TRACECLONE | killWithUs
			assert.NilError(t, syscall.PtraceSetOptions(thread, options))
		case signal == syscall.SIGTRAP|0x80:
			signal = 0
			if inside[thread] = !inside[thread]; inside[thread] {
				var regs syscall.PtraceRegs
				if err := syscall.PtraceGetRegs(thread, &regs); err != nil {
					t.Fatal(fmt.Errorf("thread %d: %w", thread, err))
				}
				calls = append(calls, regs.Orig_rax)
			}
		case signal == syscall.SIGTRAP, signal == syscall.SIGSTOP: // of a new thread
			signal = 0
		}
		err = syscall.PtraceSyscall(thread, int(signal))
		assert.Assert(t, err == nil || errors.Is(err, syscall.ESRCH), err)
	}
}
