package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ReadLimits are what a file must keep to be read. Those without a size admit nothing.
type ReadLimits struct {
	Size    int  // in bytes; what has more is an error, and is not cut off
	Private bool // others than its owner must not have been able to read it
}

// Read returns the content of a regular file within the limits. What is no such file is an
// error and is not waited for. Errors do not say the path; one for a file that is absent
// is fs.ErrNotExist.
func Read(path string, limits ReadLimits) ([]byte, error) {
	b, err := read(path, limits)
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return b, err
}

func read(path string, limits ReadLimits) ([]byte, error) {
	info, err := os.Stat(path) // what is opened may have to be waited for
	if err == nil {
		err = limits.checkInfo(info)
	}
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	if info, err = f.Stat(); err == nil {
		err = limits.checkInfo(info) // another may be there by now
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

// checkInfo says why a file is not read at all.
func (l ReadLimits) checkInfo(info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return errors.New("expected a regular file")
	}
	if l.Private && isReadableByOthers(info) {
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
