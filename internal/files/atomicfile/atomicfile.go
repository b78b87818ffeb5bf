// Package atomicfile reads and replaces files as a whole: a reader gets the old content or the
// new one, never a part. New files are readable only by this user. The package also locks and
// watches files, and does not interpret their content. It imports no other package of this
// module.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Replace replaces the content of a file in one step. It first writes the content to a file with the
// suffix ".new", so callers must hold a lock of their own. A power failure may lose the content.
func Replace(path string, content []byte) error {
	next := path + ".new"
	if err := errors.Join(os.WriteFile(next, content, 0o600), Restrict(next)); err != nil {
		return err
	}
	return Rename(next, path)
}

// EnsureDir creates the folder of a file for this user only, if it is missing.
func EnsureDir(path string) error { return MkdirPrivate(filepath.Dir(path)) }

// MkdirPrivate creates a folder for this user only, with its parents, if it is missing. On Unix that is the mode 0700. On Windows the
// folder's new content has its access list.
func MkdirPrivate(folder string) error {
	if info, err := os.Stat(folder); err == nil && info.IsDir() {
		return nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	return Restrict(folder)
}

// ReplaceDurable is Replace with a sync to disk; any number of processes may call it
// concurrently. A killed call leaves a temporary file with a name that begins with a dot. A later
// write removes that file once it is a minute old.
func ReplaceDurable(path string, content []byte) error { return replaceDurable(path, content, nil) }

// Modify is ReplaceDurable for a file shared with other programs: the new file has the mode and
// the owner of the existing one. A missing file is created for this user only. Modify returns an
// error if path is no regular file, such as a symbolic link.
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

// replaceDurable writes a file with the owner and mode of like, or with mode 0600 if like is nil.
func replaceDurable(path string, content []byte, like fs.FileInfo) error {
	folder := filepath.Dir(path)
	next, err := os.CreateTemp(folder, tempPrefix(path)+"*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(next.Name()) //nolint:errcheck // it is gone once renamed
	_, err = next.Write(content)
	if err == nil && like != nil {
		err = copyOwnerAndMode(next, path, like)
	} else if err == nil {
		err = Restrict(next.Name())
	}
	if err = errors.Join(err, next.Sync(), next.Close()); err != nil {
		return err
	}
	if err := Rename(next.Name(), path); err != nil {
		return err
	}
	removeStale(folder, tempPrefix(path))
	return SyncDir(folder)
}

// tempPrefix returns the prefix of the temporary files for path.
func tempPrefix(path string) string { return "." + filepath.Base(path) + "-" }

// staleAge is the age from which a temporary file is abandoned.
const staleAge = time.Minute

// removeStale removes the temporary files of this account's killed calls. Failures are harmless.
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
