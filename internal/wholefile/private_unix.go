//go:build unix

package wholefile

import (
	"io/fs"
	"syscall"
)

// noFollow opens no symbolic link.
const noFollow = syscall.O_NOFOLLOW

// othersMayRead reports whether what is in a file is a secret no more.
func othersMayRead(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }
