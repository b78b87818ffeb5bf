//go:build !linux

package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// errLink reports a symbolic link in a path.
var errLink = errors.New("is a link, or in a folder that is one; expected the path of the file itself")

// openNoLinks opens a file by its absolute path, and checks afterwards that the path without links
// is still the same and that of the open file.
func openNoLinks(path string) (*os.File, error) {
	if real, err := filepath.EvalSymlinks(path); err != nil {
		return nil, err
	} else if real != path {
		return nil, errLink
	}
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat()
	if err == nil {
		var named os.FileInfo
		if named, err = os.Lstat(path); err == nil && !os.SameFile(opened, named) {
			err = errLink
		}
	}
	if real, realErr := filepath.EvalSymlinks(path); err == nil && (realErr != nil || real != path) {
		err = errors.Join(errLink, realErr)
	}
	if err != nil {
		_ = f.Close() // it was not read
		return nil, err
	}
	return f, nil
}
