//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"syscall"
)

// noFollow opens no symbolic link, and does not block on a pipe.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// isReadableByOthers reports whether others than the owner have any permission for the file.
func isReadableByOthers(_ string, info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }

// isOwnedByUser reports whether a file belongs to this account.
func isOwnedByUser(info fs.FileInfo) bool {
	stat, known := info.Sys().(*syscall.Stat_t)
	return known && int(stat.Uid) == os.Geteuid()
}

// Restrict does nothing: the mode of new files and folders leaves out others.
func Restrict(string) error { return nil }

// copyOwnerAndMode gives a file the owner and the mode of the file at a path. The owner is set first, since
// changing it clears bits of the mode.
func copyOwnerAndMode(f *os.File, _ string, other fs.FileInfo) error {
	own, err := f.Stat()
	if err != nil {
		return err
	}
	is, knownIs := own.Sys().(*syscall.Stat_t)
	want, knownWant := other.Sys().(*syscall.Stat_t)
	if knownIs && knownWant && (is.Uid != want.Uid || is.Gid != want.Gid) {
		if err := f.Chown(int(want.Uid), int(want.Gid)); err != nil {
			return err
		}
	}
	return f.Chmod(other.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky))
}
