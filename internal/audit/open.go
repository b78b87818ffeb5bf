package audit

import (
	"errors"
	"io/fs"
	"os"
)

// openAppend opens the file for appending and makes it if need be. It can also be read,
// to see how it ends.
func openAppend(path string) (*os.File, error) {
	return openRegular(path, os.O_CREATE|os.O_RDWR|os.O_APPEND)
}

// openSide opens a file beside the journal for reading and writing, and makes it if need
// be.
func openSide(path string) (*os.File, error) {
	return openRegular(path, os.O_CREATE|os.O_RDWR)
}

// openRead opens a file of the journal for reading.
func openRead(path string) (*os.File, error) { return openRegular(path, os.O_RDONLY) }

// openRegular opens a file, and waits for nobody: what is there and no regular file, such
// as a named pipe or a symbolic link that leads elsewhere, is an error.
func openRegular(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|noFollow, fileMode)
	if err != nil {
		if info, bad := os.Lstat(path); bad == nil && !info.Mode().IsRegular() {
			err = irregular(path, info)
		}
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = irregular(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// irregular says what is there instead of a file.
func irregular(path string, info fs.FileInfo) error {
	what := "something else"
	switch info.Mode().Type() {
	case fs.ModeSymlink:
		what = "a symbolic link"
	case fs.ModeNamedPipe:
		what = "a named pipe"
	case fs.ModeDir:
		what = "a folder"
	}
	return &fs.PathError{Op: "open", Path: path, Err: errors.New("it is " + what + "; expected a regular file")}
}
