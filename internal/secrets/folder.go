package secrets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// lockPatience is the time limit for a lock: longer than a request over the network, which
// may be made under it.
const lockPatience = time.Minute

// A folder contains a vault's files. File names are given without a path.
type folder struct {
	path string
	// write writes the content to a new file. Tests simulate a full disk.
	write func(f *os.File, content []byte) error
}

func newFolder(path string) folder {
	return folder{path: path, write: func(f *os.File, content []byte) error {
		_, err := f.Write(content)
		return err
	}}
}

func (d folder) file(name string) string { return filepath.Join(d.path, name) }

// check returns an error if the folder is not usable; fs.ErrNotExist if it is absent.
func (d folder) check() error {
	info, err := os.Lstat(d.path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is no folder", d.path)
	}
	if err := checkPrivate(d.path, info); err != nil {
		return fmt.Errorf("%s: %w", d.path, err)
	}
	return nil
}

// make creates the folder if it is absent.
func (d folder) make() error {
	if _, err := os.Lstat(d.path); errors.Is(err, fs.ErrNotExist) {
		if err := errors.Join(atomicfile.MkdirPrivate(d.path), atomicfile.SyncDir(filepath.Dir(d.path))); err != nil {
			return err
		}
	}
	return d.check()
}

// read returns the content of a vault's file; fs.ErrNotExist if it is absent.
func (d folder) read(name string, most int) ([]byte, error) {
	b, _, err := readPrivate(d.file(name), most, checkPrivate)
	return b, err
}

// readPrivate reads a regular file that passes the check and is not too large. It fails on
// a symbolic link as the last element, and does not block on a named pipe.
func readPrivate(path string, most int, check func(path string, info fs.FileInfo) error) ([]byte, fs.FileInfo, error) {
	f, err := openPlain(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is no regular file", path)
	}
	if err := check(path, info); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	if info.Size() > int64(most) {
		return nil, nil, fmt.Errorf("%s has more than %d bytes", path, most)
	}
	b := make([]byte, info.Size())
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, nil, fmt.Errorf("%s became shorter while it was read: %w", path, err)
	}
	return b, info, nil
}

// replace replaces a file atomically: after a crash it has the old content or the new one.
// The caller must hold the file's lock.
func (d folder) replace(name string, content []byte) error {
	stem, _, _ := strings.Cut(name, ".")
	next := d.file(stem + ".new")
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a process that was killed
		return err
	}
	f, err := os.OpenFile(next, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err = atomicfile.Restrict(next); err == nil {
		err = d.write(f, content)
	}
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = atomicfile.Rename(next, d.file(name))
	}
	if err != nil {
		return errors.Join(err, os.Remove(next)) // frees the space
	}
	return atomicfile.SyncDir(d.path)
}

func (d folder) remove(name string) error {
	if err := os.Remove(d.file(name)); err != nil {
		return err
	}
	return atomicfile.SyncDir(d.path)
}

// lock waits for the lock of that name, against other processes and other goroutines. It
// fails with TIMEOUT after lockPatience.
func (d folder) lock(ctx context.Context, name string) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	unlock, err = atomicfile.Lock(ctx, d.file(name))
	if errors.Is(err, context.DeadlineExceeded) {
		e := aai.Errorf(aai.Timeout, "another process of the gateway has had the lock %s.lock for too long", d.file(name))
		e.Hint, e.Delivery = "It may wait for a server. Try again; if that does not help, look for a process of "+
			"aai-gateway that hangs.", aai.NotDelivered
		return nil, e
	}
	return unlock, err
}

// records returns the names of the record files.
func (d folder) records() ([]string, error) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), sealedEnding) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// sealedEnding is the extension of record files.
const sealedEnding = ".sealed"
