package policy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gybob/aai-gateway/internal/files/atomicfile"
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
	// CheckWritable says why nothing can be added; nil where it can.
	CheckWritable() error
}

// lockPatience is how long a change waits for others: each takes milliseconds.
const lockPatience = 10 * time.Second

// maxStore is how large the file may be, in bytes.
const maxStore = 16 << 20

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
	path     string
	patience time.Duration // how long a change waits for the lock

	mu     sync.Mutex
	seen   fs.FileInfo // of the file that grants came from; nil: read it
	grants []Grant
}

// NewFileStore returns a store in the file at path, which need not exist.
func NewFileStore(path string) *FileStore {
	return &FileStore{path: path, patience: lockPatience}
}

// Grants implements Store.
func (s *FileStore) Grants() ([]Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.read()
}

// Add implements Store.
func (s *FileStore) Add(added ...Grant) error {
	edit := replaceGrants(added)
	return s.change(func(grants []Grant) ([]Grant, error) { return edit(grants), nil })
}

// CheckWritable implements Store.
func (s *FileStore) CheckWritable() error { return nil }

// replaceGrants is the edit by which grants are added.
func replaceGrants(added []Grant) func([]Grant) []Grant {
	return func(grants []Grant) []Grant {
		kept := without(grants, func(old Grant) bool {
			return slices.ContainsFunc(added, func(g Grant) bool {
				return g.sameSubject(old)
			})
		})
		return append(kept, added...)
	}
}

// Remove implements Store.
func (s *FileStore) Remove(drop func(Grant) bool) (int, error) {
	removed := 0
	err := s.change(func(grants []Grant) ([]Grant, error) {
		kept := without(grants, drop)
		removed = len(grants) - len(kept)
		return kept, nil
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

// change rewrites the file under its lock, unless edit fails.
func (s *FileStore) change(edit func([]Grant) ([]Grant, error)) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.patience)
	defer cancel()
	var refused error
	err := atomicfile.Update(ctx, s.path, atomicfile.ReadLimits{Size: maxStore}, func(old []byte) (now []byte, err error) {
		defer func() { refused = err }()
		var grants []Grant
		if old != nil {
			if grants, err = s.parseCached(old); err != nil {
				return nil, err
			}
		}
		if grants, err = edit(grants); err != nil {
			return nil, err
		}
		return marshalStore(grants)
	})
	if err != nil && refused == nil {
		return fmt.Errorf("change the consents in %s: %w", s.path, err)
	}
	return err
}

// marshalStore is what the file says of the grants.
func marshalStore(grants []Grant) ([]byte, error) {
	b, err := json.MarshalIndent(storeFile{storeVersion, grants}, "", "  ")
	return append(b, '\n'), err
}

// lockAndRead gets the lock of the file and what is in it then.
func (s *FileStore) lockAndRead() (grants []Grant, unlock func(), err error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.patience)
	defer cancel()
	if unlock, err = atomicfile.Lock(ctx, s.path); err != nil {
		return nil, func() {}, fmt.Errorf("seal the consents: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = nil
	if grants, err = s.read(); err != nil {
		unlock()
		return nil, func() {}, err
	}
	return grants, unlock, nil
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
	b, err := atomicfile.Read(s.path, atomicfile.ReadLimits{Size: maxStore})
	if err != nil {
		return nil, fmt.Errorf("read the consents in %s: %w", s.path, err)
	}
	grants, err := s.parseCached(b)
	if err != nil {
		return nil, err
	}
	s.grants, s.seen = grants, info
	return s.grants, nil
}

// parseCached understands what is in the file.
func (s *FileStore) parseCached(b []byte) ([]Grant, error) {
	grants, err := parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s is not a file of consents: %w", s.path, err)
	}
	return grants, nil
}

// parse understands the whole file or nothing of it.
func parse(b []byte) ([]Grant, error) {
	var versioned struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(b, &versioned); err != nil {
		return nil, err
	}
	if versioned.Version != storeVersion {
		return nil, fmt.Errorf("it has version %d of the format; this gateway knows version %d", versioned.Version, storeVersion)
	}
	var file storeFile
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return nil, err
	}
	for i, g := range file.Grants {
		if g.Decision != Allow && g.Decision != Deny {
			return nil, fmt.Errorf("grants[%d].decision is %q; expected %q or %q", i, g.Decision, Allow, Deny)
		}
	}
	return file.Grants, nil
}

// unchanged tells whether a file is still the one that was read. Every change
// makes a new file, so its identity says more than its time.
func unchanged(was, is fs.FileInfo) bool {
	return was != nil && os.SameFile(was, is) && was.ModTime().Equal(is.ModTime()) && was.Size() == is.Size()
}
