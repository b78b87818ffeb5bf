package child

import (
	"os"
	"runtime"
	"strconv"
	"strings"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"golang.org/x/sys/unix"
)

// maxExtraSpace is the address space that the process may add to its initial one. Go reserves most
// of that: 1.2 GB and more.
const maxExtraSpace = 640 << 20

// addressSpace returns the current address space in bytes.
func addressSpace() (uint64, error) {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	pages, _, _ := strings.Cut(string(b), " ")
	n, err := strconv.ParseUint(pages, 10, 64)
	return n * uint64(os.Getpagesize()), err
}

// confine limits the process: cpu seconds of processor time, memory, open files, and the system
// calls that Go needs. Old kernels do not support the system call filter. The script is harmless
// without it, because the machine offers no system access.
func confine(cpu int) error {
	runtime.LockOSThread() // the filter copies the thread's settings to all threads
	defer runtime.UnlockOSThread()
	has, err := addressSpace()
	if err != nil {
		return err
	}
	limits := map[int]uint64{
		unix.RLIMIT_AS: has + maxExtraSpace, unix.RLIMIT_CPU: uint64(max(1, cpu)),
		unix.RLIMIT_CORE: 0, unix.RLIMIT_FSIZE: 0, unix.RLIMIT_NOFILE: 16,
	}
	for which, most := range limits {
		if err := unix.Setrlimit(which, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if !seccomp.Supported() || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		return nil
	}
	return seccomp.LoadFilter(seccomp.Filter{NoNewPrivs: true, Flag: seccomp.FilterFlagTSync, Policy: seccomp.Policy{
		DefaultAction: seccomp.ActionErrno,
		Syscalls: []seccomp.SyscallGroup{{Action: seccomp.ActionAllow, Names: allowedSyscalls(),
			NamesWithCondtions: []seccomp.NameWithConditions{{
				// Go signals its own threads; other processes are out of reach.
				Name:       "tgkill",
				Conditions: seccomp.ArgumentConditions{{Argument: 0, Operation: seccomp.Equal, Value: uint64(os.Getpid())}},
			}}}},
	}})
}

// allowedSyscalls lists the system calls that Go and the pipes need. All others fail with an error.
func allowedSyscalls() []string {
	return []string{
		"read", "write", "close", "fcntl",
		"mmap", "munmap", "mprotect", "madvise", "mincore", "mremap", "membarrier",
		"brk", "clone", "clone3", "set_robust_list", "rseq", "gettid", "getpid", "exit", "exit_group", "restart_syscall",
		"futex", "sched_yield", "sched_getaffinity", "nanosleep", "clock_nanosleep", "clock_gettime", "gettimeofday",
		"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "setitimer", "timer_create",
		"timer_settime", "timer_delete", "epoll_create1", "epoll_ctl", "epoll_pwait", "eventfd2", "getrandom",
	}
}
