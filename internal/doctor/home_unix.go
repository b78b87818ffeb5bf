//go:build unix

package doctor

import (
	"os"
	"syscall"
)

// errNoRoom is the system's error for a full disk.
const errNoRoom = syscall.ENOSPC

// freeSpace returns the space available to this user on the disk of the folder, in bytes.
func freeSpace(folder string) (bytes int64, known bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil || s.Blocks == 0 {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true //nolint:unconvert // the types differ by system
}

// spaceError returns an error if the folder's disk has less than 4 MB left.
func spaceError(folder string) error {
	if free, known := freeSpace(folder); known && free < 4*megabyte {
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
