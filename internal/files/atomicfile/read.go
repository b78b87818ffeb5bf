package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ReadLimits are the conditions for reading a file. A zero Size admits only empty files.
type ReadLimits struct {
	Size    int  // in bytes; a larger file is an error
	Private bool // only the owner may have permissions for it
	NoLinks bool // no part of the path, which is absolute, may be a symbolic link
}

// Read returns the content of a regular file within the limits. It returns an error for any other
// file, without blocking. Errors omit the path; the error for a missing file matches fs.ErrNotExist.
func Read(path string, limits ReadLimits) ([]byte, error) {
	b, err := read(path, limits)
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return b, err
}

func read(path string, limits ReadLimits) ([]byte, error) {
	f, err := open(path, limits)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err == nil {
		err = limits.checkInfo(path, info) // the file may have been replaced
	}
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, int64(limits.Size)+1))
	if err == nil {
		err = limits.checkSize(b)
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// open opens a file for read without blocking.
func open(path string, limits ReadLimits) (*os.File, error) {
	if limits.NoLinks {
		return openNoLinks(path)
	}
	info, err := os.Stat(path) // before Open, which may block
	if err == nil {
		err = limits.checkInfo(path, info)
	}
	if err != nil {
		return nil, err
	}
	return Open(path)
}

// checkInfo returns an error if the file must not be read.
func (l ReadLimits) checkInfo(path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return errors.New("expected a regular file")
	}
	if l.Private && isReadableByOthers(path, info) {
		return errors.New("others than its owner may read it")
	}
	return nil
}

func (l ReadLimits) checkSize(content []byte) error {
	if len(content) > l.Size {
		return fmt.Errorf("expected at most %d bytes", l.Size)
	}
	return nil
}
