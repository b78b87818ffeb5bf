package journal

import "os"

// openAppend opens the file for appending and makes it if need be. It can
// also be read, to see how it ends.
func openAppend(path string, mode os.FileMode) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, mode)
}

// openSide opens a file beside the journal for reading and writing.
func openSide(path string, mode os.FileMode) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_RDWR, mode)
}

// openRead opens a file of the journal for reading.
func openRead(path string) (*os.File, error) { return os.Open(path) }
