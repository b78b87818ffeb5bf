//go:build unix

package secrets

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// openPlain opens a file for reading. It fails on a symbolic link, and does not block on a
// named pipe.
func openPlain(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("%s is a symbolic link", path)
	}
	return f, err
}

// checkPrivate returns an error if other users may have read or changed the file.
func checkPrivate(_ string, info fs.FileInfo) error {
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

// checkNotWritable returns an error if other users except root may have changed a credential. The system
// controls read access: the file may belong to root, with a list of readers.
func checkNotWritable(_ string, info fs.FileInfo) error {
	if mode := info.Mode().Perm(); mode&0o027 != 0 {
		return fmt.Errorf("others may use it, its mode is %04o; expected 0400 or 0440", mode)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != os.Geteuid() && stat.Uid != 0 {
		return errors.New("it belongs to another user")
	}
	return nil
}
