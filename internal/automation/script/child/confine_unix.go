//go:build unix && !linux

package child

import "golang.org/x/sys/unix"

// maxSpace is of the process's addresses, where the system heeds it.
const maxSpace = 1536 << 20

// confine leaves the process so many seconds of the processor and no new files. That it
// stays small it sees to itself.
func confine(cpu int) error {
	for which, most := range map[int]uint64{
		unix.RLIMIT_CPU:  uint64(max(1, cpu)),
		unix.RLIMIT_CORE: 0, unix.RLIMIT_FSIZE: 0,
	} {
		if err := unix.Setrlimit(which, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return err
		}
	}
	_ = unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: maxSpace, Max: maxSpace})
	go watchSelf()
	return nil
}
