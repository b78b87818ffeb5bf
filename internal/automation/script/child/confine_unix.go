//go:build unix && !linux

package child

import "golang.org/x/sys/unix"

// maxSpace limits the address space, if the system supports it.
const maxSpace = 1536 << 20

// confine limits the process to cpu seconds of processor time and no new files. It watches its
// memory itself.
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
