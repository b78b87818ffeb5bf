package diskspace

import (
	"errors"
	"os"
	"syscall"
)

// Allocate grows the file to size bytes that occupy the disk. It overwrites the content, if the file
// system cannot allocate space otherwise.
func Allocate(f *os.File, size int64) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var refused error
	if err := conn.Control(func(fd uintptr) { refused = syscall.Fallocate(int(fd), 0, 0, size) }); err != nil {
		return err
	}
	if errors.Is(refused, syscall.EOPNOTSUPP) || errors.Is(refused, syscall.ENOSYS) {
		return allocateByWriting(f, size)
	}
	return refused
}
