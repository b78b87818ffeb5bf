package secrets

import (
	"fmt"
	"io/fs"
	"os"

	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// openPlain opens a file for reading. It fails on a link.
func openPlain(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	f, err := atomicfile.Open(path)
	if err != nil {
		return nil, err
	}
	if now, err := f.Stat(); err != nil || !os.SameFile(info, now) {
		_ = f.Close() // it was never read
		return nil, fmt.Errorf("%s was changed while it was opened", path)
	}
	return f, nil
}

// checkPrivate returns an error if other accounts may have read or changed the file.
func checkPrivate(path string, _ fs.FileInfo) error { return atomicfile.CheckPrivate(path) }

// checkNotWritable is checkPrivate: no program of Windows hands out credentials as files.
func checkNotWritable(path string, info fs.FileInfo) error { return checkPrivate(path, info) }
