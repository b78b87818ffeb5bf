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

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// A Store persists grants. It is safe for concurrent use, also by several gateways at
// once.
type Store interface {
	// Grants returns all grants, oldest first. Callers must not change the slice.
	Grants() ([]Grant, error)
	// Add stores the grants, all or none. Each replaces the earlier decision for the same
	// caller, app and tool.
	Add(grants ...Grant) error
	// Remove deletes the grants for which drop returns true, and returns their number.
	Remove(drop func(Grant) bool) (int, error)
	// CheckWritable returns an error if the store cannot add grants.
	CheckWritable() error
}

// lockPatience is the wait for the lock; other changes take milliseconds.
const lockPatience = 10 * time.Second

// maxStore is the maximum size of the file, in bytes.
const maxStore = 16 << 20

// storeVersion is the version of the file's format.
const storeVersion = 1

type storeFile struct {
	Version int     `json:"version"`
	Grants  []Grant `json:"grants"`
}

// A FileStore keeps grants in a JSON file that only its owner may read. It reads the file
// again after each change on disk, so a grant from one process is valid in all others at
// once.
type FileStore struct {
	path     string
	patience time.Duration // wait for the lock

	mu     sync.Mutex
	seen   fs.FileInfo // the file that grants came from; nil: read it
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

// replaceGrants returns the edit that adds grants.
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

// marshalStore encodes the grants for the file.
func marshalStore(grants []Grant) ([]byte, error) {
	b, err := json.MarshalIndent(storeFile{storeVersion, grants}, "", "  ")
	return append(b, '\n'), err
}

// lockAndRead locks the file and reads it.
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

// read returns the grants in the file. An invalid file results in an error, never in an
// empty list: its refusals must not be lost.
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

// parseCached parses the file's content and adds the path to errors.
func (s *FileStore) parseCached(b []byte) ([]Grant, error) {
	grants, err := parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s is not a file of consents: %w", s.path, err)
	}
	return grants, nil
}

// parse decodes the whole file, or returns an error.
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

// unchanged reports whether a file is still the one that was read. Every change creates a
// new file, so its identity is more reliable than its time.
func unchanged(was, is fs.FileInfo) bool {
	return was != nil && os.SameFile(was, is) && was.ModTime().Equal(is.ModTime()) && was.Size() == is.Size()
}

// An ExternalStore keeps the grants of an installation outside the account's home
// directory. The process that started the gateway chose the folder and may have planted any
// file there. So a permission counts only if it is sealed. From a plain file only refusals
// count, and the store imports no permission from it.
type ExternalStore struct{ sealed *SealedStore }

// NewExternalStore returns a store in the vault. The vault must not use a key from a place
// that the environment names.
func NewExternalStore(plain *FileStore, vault Sealer) *ExternalStore {
	return &ExternalStore{NewSealedStore(plain, vault)}
}

// Grants implements Store.
func (s *ExternalStore) Grants() ([]Grant, error) {
	record, err := s.sealed.vault.Get(context.Background(), sealedID)
	switch {
	case err != nil && !isUnsealable(err):
		return nil, err
	case record != nil:
		return s.sealed.parsed(record)
	}
	return s.refusals()
}

// refusals returns the refusals of the plain file.
func (s *ExternalStore) refusals() ([]Grant, error) {
	grants, err := s.sealed.plain.Grants()
	return refusalsOf(grants), err
}

// Add implements Store.
func (s *ExternalStore) Add(added ...Grant) error { return s.change(replaceGrants(added)) }

// Remove implements Store.
func (s *ExternalStore) Remove(drop func(Grant) bool) (int, error) {
	before, err := s.Grants()
	if err != nil || len(without(before, drop)) == len(before) {
		return 0, err
	}
	removed := 0
	err = s.change(func(grants []Grant) []Grant {
		kept := without(grants, drop)
		removed = len(grants) - len(kept)
		return kept
	})
	return removed, err
}

func (s *ExternalStore) change(edit func([]Grant) []Grant) error {
	err := s.sealed.vault.Update(context.Background(), sealedID, func(old []byte) (_ []byte, err error) {
		var grants []Grant
		if old != nil {
			grants, err = parse(old)
		} else {
			grants, err = s.refusals()
		}
		if err != nil {
			return nil, err
		}
		return json.Marshal(storeFile{storeVersion, edit(grants)})
	})
	return notStoredError(err)
}

// CheckWritable implements Store.
func (s *ExternalStore) CheckWritable() error {
	return notStoredError(s.sealed.vault.CheckSealing(context.Background()))
}

func notStoredError(err error) error {
	if !isUnsealable(err) {
		return err
	}
	e := aai.Errorf(aai.ConsentRequired, "HOME or XDG_DATA_HOME is not this account's, and there is no keychain to seal the permissions there: %w", err)
	e.Hint = "Start the gateway with the account's own HOME, or have root write the permissions into " + RootPolicyPath + "."
	return e
}

// UnsealedWarning returns a warning about an existing plain file, or "" if there is none.
func (s *ExternalStore) UnsealedWarning() string {
	if _, err := os.Lstat(s.sealed.plain.path); errors.Is(err, os.ErrNotExist) {
		return ""
	}
	return "HOME or XDG_DATA_HOME is not this account's, so the permissions in " + s.sealed.plain.path + " have no effect"
}
