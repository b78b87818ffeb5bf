package doctor

import "syscall"

// errNoRoom is the system's error for a full disk: ERROR_DISK_FULL.
const errNoRoom = syscall.Errno(112)

func spaceError(string) error { return nil }

func isOwnedByUser(string) bool { return true }
