//go:build unix

package wholefile

import (
	"io/fs"
	"syscall"
)

// noFollow opens no symbolic link, and waits for nobody at the other end of a pipe.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// othersMayRead reports whether what is in a file is a secret no more.
func othersMayRead(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }
