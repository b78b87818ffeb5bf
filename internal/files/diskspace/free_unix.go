//go:build unix

package diskspace

import (
	"errors"
	"syscall"
)

// Free returns the space available to this user on the disk of the folder, in bytes.
func Free(folder string) (bytes int64, known bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil || s.Blocks == 0 {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true //nolint:unconvert // the types differ by system
}

// IsFull reports whether the error means that a disk or a quota is full.
func IsFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }
