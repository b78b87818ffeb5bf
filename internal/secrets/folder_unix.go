//go:build unix

package secrets

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// openPlain opens a file to read it. A symbolic link is an error; a named pipe is
// not waited for.
func openPlain(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("%s is a symbolic link", path)
	}
	return f, err
}

// checkPrivate says why others than this user may have read or changed something.
func checkPrivate(info fs.FileInfo) error {
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("others may use it, its mode is %04o; expected %04o", mode, mode&0o700)
	}
	return checkOwner(info)
}

func checkOwner(info fs.FileInfo) error {
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != os.Geteuid() {
		return errors.New("it belongs to another user")
	}
	return nil
}

// checkNotWritable says why others than the system may have changed a credential. Who may
// read it is the system's to say: it may belong to root, with a list of readers.
func checkNotWritable(info fs.FileInfo) error {
	if mode := info.Mode().Perm(); mode&0o027 != 0 {
		return fmt.Errorf("others may use it, its mode is %04o; expected 0400 or 0440", mode)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != os.Geteuid() && stat.Uid != 0 {
		return errors.New("it belongs to another user")
	}
	return nil
}
