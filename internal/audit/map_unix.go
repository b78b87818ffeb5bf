//go:build unix

package audit

import (
	"os"
	"syscall"
)

// mapsFiles reports that this system can map files.
const mapsFiles = true

// mapFile maps the beginning of a file, shared by all processes, or returns nil if that
// fails.
func mapFile(f *os.File, size int) []byte {
	b, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil
	}
	return b
}

func unmapFile(b []byte) error { return syscall.Munmap(b) }
