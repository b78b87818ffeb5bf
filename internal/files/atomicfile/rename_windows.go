package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/windows"
)

// patience is the wait for a program that has a file open and does not share it, such as a virus scanner.
const patience = 5 * time.Second

// Rename renames a file within its folder, and replaces one of that name, also while others read it by [Open].
func Rename(from, to string) error {
	rename := func() error { return os.Rename(from, to) }
	inUse := []error{windows.ERROR_ACCESS_DENIED, windows.ERROR_SHARING_VIOLATION}
	err := rename()
	if info, statErr := os.Lstat(to); err == nil || !isAny(err, inUse) || statErr == nil && info.IsDir() {
		return err
	}
	folder, err := os.OpenRoot(filepath.Dir(from)) // which renames by POSIX semantics: an open file is replaced, if it is shared
	if err != nil {
		return err
	}
	defer folder.Close() //nolint:errcheck // it is only for names
	if folder.Rename(filepath.Base(from), filepath.Base(to)) == nil {
		return nil
	}
	return retry(rename, inUse...)
}

// Open opens a file for reading, so that others can replace it meanwhile. It waits while they do.
func Open(path string) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	var handle windows.Handle
	err = retry(func() (err error) {
		handle, err = windows.CreateFile(name, windows.GENERIC_READ, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil,
			windows.OPEN_EXISTING, windows.FILE_ATTRIBUTE_NORMAL, 0)
		return err
	}, windows.ERROR_SHARING_VIOLATION)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(handle), path), nil
}

// retry repeats an operation for a while as long as its error means that another program uses the file. Wine needs that for each
// replacement of a file that is read, and Windows for files that others opened without sharing them.
func retry(operate func() error, inUse ...error) error {
	pause := time.Millisecond
	for until := time.Now().Add(patience); ; pause = min(2*pause, 10*time.Millisecond) {
		err := operate()
		if err == nil || !isAny(err, inUse) || time.Now().After(until) {
			return err
		}
		time.Sleep(pause)
	}
}

func isAny(err error, targets []error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}
