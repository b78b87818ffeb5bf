package oauth_test

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gofrs/flock"
)

// folder implements oauth.Secrets with plain files, for tests. Several processes may share one.
type folder struct {
	path string
	mu   sync.Mutex // a flock belongs to a process, not to a goroutine

	// before, if not nil, is called with the data before each write.
	before func(id string, b []byte)
}

func (f *folder) file(id string) string { return filepath.Join(f.path, hex.EncodeToString([]byte(id))) }

func (f *folder) Get(_ context.Context, id string) ([]byte, error) {
	b, err := os.ReadFile(f.file(id))
	return b, err // fs.ErrNotExist if absent
}

func (f *folder) Update(_ context.Context, id string, edit func([]byte) ([]byte, error)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	lock := flock.New(filepath.Join(f.path, "lock"))
	if err := lock.Lock(); err != nil {
		return err
	}
	defer lock.Unlock()        //nolint:errcheck // the end of the process unlocks it too
	old, err := f.Get(nil, id) //nolint:staticcheck // it ignores the context
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	b, err := edit(old)
	if err != nil {
		return err
	}
	if f.before != nil {
		f.before(id, b)
	}
	if b == nil {
		if err := os.Remove(f.file(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	next := f.file(id) + ".new"
	if err := os.WriteFile(next, b, 0o600); err != nil {
		return err
	}
	return os.Rename(next, f.file(id))
}

func (f *folder) Names(_ context.Context, prefix string) ([]string, error) {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		id, err := hex.DecodeString(e.Name())
		if err == nil && strings.HasPrefix(string(id), prefix) {
			names = append(names, string(id))
		}
	}
	return names, nil
}

// all returns all stored values, by id.
func (f *folder) all() map[string]string {
	names, _ := f.Names(context.Background(), "")
	kept := make(map[string]string)
	for _, name := range names {
		b, _ := f.Get(context.Background(), name)
		kept[name] = string(b)
	}
	return kept
}
