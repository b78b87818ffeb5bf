package diskspace

import (
	"errors"

	"golang.org/x/sys/windows"
)

// Free returns the space available to this user on the disk of the folder, in bytes.
func Free(folder string) (bytes int64, known bool) {
	path, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return 0, false
	}
	var available uint64
	if err := windows.GetDiskFreeSpaceEx(path, &available, nil, nil); err != nil {
		return 0, false
	}
	return int64(min(available, 1<<62)), true //nolint:gosec // it is bounded
}

// IsFull reports whether the error means that a disk or a quota is full.
func IsFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED) ||
		errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}
