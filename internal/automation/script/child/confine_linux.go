package child

import (
	"os"
	"runtime"
	"strconv"
	"strings"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"golang.org/x/sys/unix"
)

// maxExtraSpace is how much the process may take of addresses beyond what it has when it begins,
// most of which Go only reserves: 1.2 GB and more.
const maxExtraSpace = 640 << 20

// addressSpace is how much it has.
func addressSpace() (uint64, error) {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	pages, _, _ := strings.Cut(string(b), " ")
	n, err := strconv.ParseUint(pages, 10, 64)
	return n * uint64(os.Getpagesize()), err
}

// confine leaves the process what it needs: so many seconds of the processor, memory, the
// files that are open, and the calls of the system by which Go lives. What of that the
// system refuses, which old kernels do with the last, is not needed for the script to be
// harmless: the machine offers it nothing of it.
func confine(cpu int) error {
	runtime.LockOSThread() // what is set for one thread the filter gives to all
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
		Syscalls: []seccomp.SyscallGroup{{Action: seccomp.ActionAllow, Names: allowedSyscalls(), NamesWithCondtions: []seccomp.NameWithConditions{{
			// Go interrupts its own threads; those of others are none of a script's.
			Name: "tgkill", Conditions: seccomp.ArgumentConditions{{Argument: 0, Operation: seccomp.Equal, Value: uint64(os.Getpid())}},
		}}}},
	}})
}

// allowedSyscalls are those of the system by which Go lives and the pipes are used. Whatever else is
// called fails as if it were forbidden.
func allowedSyscalls() []string {
	return []string{
		"read", "write", "close", "fcntl",
		"mmap", "munmap", "mprotect", "madvise", "mincore", "mremap", "membarrier",
		"brk", "clone", "clone3", "set_robust_list", "rseq", "gettid", "getpid", "exit", "exit_group", "restart_syscall",
		"futex", "sched_yield", "sched_getaffinity", "nanosleep", "clock_nanosleep", "clock_gettime", "gettimeofday",
		"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "setitimer", "timer_create", "timer_settime", "timer_delete",
		"epoll_create1", "epoll_ctl", "epoll_pwait", "eventfd2", "getrandom",
	}
}
