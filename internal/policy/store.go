package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/gofrs/flock"
)

// A Store keeps the grants that people gave. It is safe for concurrent use, also
// by several gateways at once.
type Store interface {
	// Grants returns all of them, oldest first. The slice is not changed later.
	Grants() ([]Grant, error)
	// Add keeps more of them, all or none. Each replaces what was decided before
	// for the same caller, app and tool.
	Add(grants ...Grant) error
	// Remove forgets the grants for which drop is true and returns how many.
	Remove(drop func(Grant) bool) (int, error)
}

// storeVersion is the version of the file's format.
const storeVersion = 1

type storeFile struct {
	Version int     `json:"version"`
	Grants  []Grant `json:"grants"`
}

// A FileStore keeps grants in a JSON file that only its owner may read. It is
// read again whenever it has changed on disk, so a grant given in one process
// holds in every other at once.
type FileStore struct {
	path string

	mu     sync.Mutex
	seen   fs.FileInfo // of the file that grants came from; nil: read it
	grants []Grant
}

// NewFileStore returns a store in the file at path, which need not exist.
func NewFileStore(path string) *FileStore { return &FileStore{path: path} }

// Grants implements Store.
func (s *FileStore) Grants() ([]Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.read()
}

// Add implements Store.
func (s *FileStore) Add(added ...Grant) error {
	return s.change(func(grants []Grant) []Grant {
		kept := without(grants, func(old Grant) bool {
			return slices.ContainsFunc(added, func(g Grant) bool {
				return old.Caller == g.Caller && old.App == g.App && old.Tool == g.Tool
			})
		})
		return append(kept, added...)
	})
}

// Remove implements Store.
func (s *FileStore) Remove(drop func(Grant) bool) (int, error) {
	removed := 0
	err := s.change(func(grants []Grant) []Grant {
		kept := without(grants, drop)
		removed = len(grants) - len(kept)
		return kept
	})
	return removed, err
}

func without(grants []Grant, drop func(Grant) bool) []Grant {
	kept := make([]Grant, 0, len(grants)+1)
	for _, g := range grants {
		if !drop(g) {
			kept = append(kept, g)
		}
	}
	return kept
}

// change rewrites the file under a lock that holds across processes.
func (s *FileStore) change(edit func([]Grant) []Grant) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return fmt.Errorf("make the folder of the consents: %w", err)
	}
	lock := flock.New(s.path+".lock", flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("lock the consents: %w", err)
	}
	defer lock.Unlock() //nolint:errcheck // closing the file releases it too
	s.seen = nil
	grants, err := s.read()
	if err != nil {
		return err
	}
	return s.write(edit(grants))
}

// read returns the grants in the file. A file that is not understood is an
// error, never an empty list: a refusal in it must not be forgotten.
func (s *FileStore) read() ([]Grant, error) {
	info, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		s.grants, s.seen = nil, nil
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the consents: %w", err)
	}
	if unchanged(s.seen, info) {
		return s.grants, nil
	}
	b, err := os.ReadFile(s.path)
	if err != nil {
		return nil, fmt.Errorf("read the consents: %w", err)
	}
	var file storeFile
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return nil, fmt.Errorf("%s is not a file of consents: %w", s.path, err)
	}
	if file.Version != storeVersion {
		return nil, fmt.Errorf("%s has version %d of the format; this gateway knows version %d", s.path, file.Version, storeVersion)
	}
	s.grants, s.seen = file.Grants, info
	return s.grants, nil
}

// unchanged tells whether a file is still the one that was read. Every change
// makes a new file, so its identity says more than its time.
func unchanged(was, is fs.FileInfo) bool {
	return was != nil && os.SameFile(was, is) && was.ModTime().Equal(is.ModTime()) && was.Size() == is.Size()
}

// write replaces the file whole: written beside it, flushed, renamed.
func (s *FileStore) write(grants []Grant) error {
	b, err := json.MarshalIndent(storeFile{storeVersion, grants}, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the consents: %w", err)
	}
	next, err := os.CreateTemp(filepath.Dir(s.path), ".consent-*")
	if err != nil {
		return fmt.Errorf("write the consents: %w", err)
	}
	defer os.Remove(next.Name()) //nolint:errcheck // it is gone once renamed
	_, err = next.Write(append(b, '\n'))
	err = errors.Join(err, next.Sync(), next.Close())
	if err == nil {
		err = os.Rename(next.Name(), s.path)
	}
	if err != nil {
		return fmt.Errorf("write the consents: %w", err)
	}
	s.seen = nil
	return nil
}
