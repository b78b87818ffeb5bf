//go:build unix

package doctor

import (
	"os"
	"syscall"

	"github.com/gybob/aai-gateway/internal/files/diskspace"
)

// errNoRoom is the system's error for a full disk.
const errNoRoom = syscall.ENOSPC

// spaceError returns an error if the folder's disk has less than 4 MB left.
func spaceError(folder string) error {
	if free, known := diskspace.Free(folder); known && free < 4*megabyte {
		return syscall.ENOSPC
	}
	return nil
}

// isOwnedByUser reports whether the folder belongs to this user.
func isOwnedByUser(folder string) bool {
	info, err := os.Stat(folder)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
