package diskspace

import (
	"errors"
	"syscall"
)

// Free is not implemented here.
func Free(string) (bytes int64, known bool) { return 0, false }

// IsFull reports whether the error is ERROR_DISK_FULL.
func IsFull(err error) bool { return errors.Is(err, syscall.Errno(112)) }
