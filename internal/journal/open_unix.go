//go:build unix

package journal

import (
	"os"
	"syscall"
)

// openAppend opens the file for appending and makes it if need be. It does not
// follow a symbolic link in the last place: nobody may lead the journal
// elsewhere. It can also be read, to see how it ends; nor does opening a named pipe
// so wait for a reader.
func openAppend(path string, mode os.FileMode) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND|syscall.O_NOFOLLOW, mode)
}

// openSide opens a file beside the journal for reading and writing, in the same
// way.
func openSide(path string, mode os.FileMode) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, mode)
}

// openRead opens a file of the journal for reading.
func openRead(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}
