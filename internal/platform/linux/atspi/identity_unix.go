//go:build unix

package atspi

import (
	"os"
	"syscall"
)

// othersMayWrite reports whether users other than root can write the file or folder.
func othersMayWrite(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return true
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	return !ok || owner.Uid != 0 || info.Mode().Perm()&0o002 != 0 || info.Mode().Perm()&0o020 != 0 && owner.Gid != 0
}
