// Package wholefile reads and replaces files whole: whoever reads one finds the old content
// or the new one, and never a part. What is written is for this user alone. It imports
// nothing of ours, and knows nothing of what is in a file.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Replace gives a file its content in one step. Only one at a time may do so, under a
// lock of the caller's: the content is written beside it, with the ending ".new". A
// power cut may lose it.
func Replace(path string, content []byte) error {
	next := path + ".new"
	if err := os.WriteFile(next, content, 0o600); err != nil {
		return err
	}
	return os.Rename(next, path)
}

// EnsureDir makes the folder of a file, for this user alone, if there is none.
func EnsureDir(path string) error { return os.MkdirAll(filepath.Dir(path), 0o700) }

// ReplaceDurable is Replace for what a power cut must not lose; any number may do so at a time.
// One that is killed in the middle leaves a file whose name begins with a dot; the next
// one that is written takes it away when it is a minute old.
func ReplaceDurable(path string, content []byte) error { return replaceDurable(path, content, nil) }

// Modify is Keep for a file that others made and read: the new one has the mode and the owner
// of the one that is there. One that is not there yet is for this user alone. What is no
// regular file, such as a symbolic link, is not replaced.
func Modify(path string, content []byte) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return replaceDurable(path, content, nil)
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return &fs.PathError{Op: "amend", Path: path, Err: errors.New("expected a regular file")}
	}
	return replaceDurable(path, content, info)
}

// replaceDurable writes a file that is like another, or for its owner alone.
func replaceDurable(path string, content []byte, like fs.FileInfo) error {
	folder := filepath.Dir(path)
	next, err := os.CreateTemp(folder, tempPrefix(path)+"*") // for its owner alone
	if err != nil {
		return err
	}
	defer os.Remove(next.Name()) //nolint:errcheck // it is gone once renamed
	_, err = next.Write(content)
	if err == nil && like != nil {
		err = copyOwnerAndMode(next, like)
	}
	if err = errors.Join(err, next.Sync(), next.Close()); err != nil {
		return err
	}
	if err := os.Rename(next.Name(), path); err != nil {
		return err
	}
	removeStale(folder, tempPrefix(path))
	return SyncDir(folder)
}

// tempPrefix is how the names begin of what is written beside a file.
func tempPrefix(path string) string { return "." + filepath.Base(path) + "-" }

// staleAge is how old a file is that nobody writes any more.
const staleAge = time.Minute

// removeStale takes away what was written beside a file by those of this account who were killed
// before they could rename it. That it cannot be done harms nobody.
func removeStale(folder, begin string) {
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		number, found := strings.CutPrefix(e.Name(), begin)
		if !found || number == "" || strings.Trim(number, "0123456789") != "" || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > staleAge && isOwnedByUser(info) {
			_ = os.Remove(filepath.Join(folder, e.Name()))
		}
	}
}
