package journal

import "os"

// openAppend opens the file for appending and makes it if need be. It can
// also be read, to see how it ends.
func openAppend(path string, mode os.FileMode) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, mode)
}
