package journal

import "os"

// openAppend opens the file for appending and makes it if need be.
func openAppend(path string, mode os.FileMode) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, mode)
}
