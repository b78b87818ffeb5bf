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
