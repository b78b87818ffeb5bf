package audit

import (
	"errors"
	"io/fs"
	"os"
)

// openAppend opens the file for appending, and creates it if necessary. The file is also
// readable, to check its end.
func openAppend(path string) (*os.File, error) {
	return openRegular(path, os.O_CREATE|os.O_RDWR|os.O_APPEND)
}

// openSide opens a file beside the journal for reading and writing, and creates it if
// necessary.
func openSide(path string) (*os.File, error) {
	return openRegular(path, os.O_CREATE|os.O_RDWR)
}

// openRead opens a file of the journal for reading.
func openRead(path string) (*os.File, error) { return openRegular(path, os.O_RDONLY) }

// openRegular opens a regular file without blocking. Anything else, such as a named pipe
// or a symbolic link, results in an error.
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

// irregular returns the error for a path that is not a regular file.
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
