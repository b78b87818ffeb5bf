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
)

// A Sealer keeps records that nobody else can read or write, such as
// internal/secrets's Vault. Its methods are safe for concurrent use, also by
// several processes.
type Sealer interface {
	// Get returns a record, nil if it is absent. An error whose chain has
	// errors.ErrUnsupported says that nothing can be sealed on this computer, and
	// that nothing was.
	Get(ctx context.Context, id string) ([]byte, error)
	// Update changes a record: edit gets what there is, nil for nothing, and returns
	// what shall be. It changes all or nothing. Its error may be as Get's.
	Update(ctx context.Context, id string, edit func(old []byte) ([]byte, error)) error
	// CheckSealing says why nothing can be sealed now; nil where it can. Its error may be as Get's.
	CheckSealing(ctx context.Context) error
}

// sealedID names the record of the consents.
const sealedID = "policy/consent"

// A SealedStore keeps grants sealed, so that whoever can only write files, such as
// an agent with a tool for that, cannot grant itself anything. Where nothing can be
// sealed, they are in the plain file as ever: to ask again would help nobody, and a
// refusal must not be forgotten. Where something can be, such a file only refuses, and
// a person takes over what it allows: see Aside. The first change that can be sealed takes
// its refusals along; from then on it counts for nothing.
type SealedStore struct {
	plain *FileStore
	vault Sealer

	sealability sealability

	mu     sync.Mutex
	seen   []byte // what grants were parsed from
	grants []Grant
}

// NewSealedStore returns a store in the vault, or in the plain file while nothing
// can be sealed.
func NewSealedStore(plain *FileStore, vault Sealer) *SealedStore {
	return &SealedStore{plain: plain, vault: vault}
}

// Grants implements Store.
func (s *SealedStore) Grants() ([]Grant, error) {
	sealed, err := s.vault.Get(context.Background(), sealedID)
	switch {
	case err != nil && !isUnsealable(err):
		return nil, err
	case sealed != nil:
		return s.parsed(sealed)
	}
	return s.plainGrants()
}

// Add implements Store.
func (s *SealedStore) Add(added ...Grant) error { return s.change(replaceGrants(added)) }

// Remove implements Store.
func (s *SealedStore) Remove(drop func(Grant) bool) (int, error) {
	grants, err := s.Grants()
	if err != nil || !slices.ContainsFunc(grants, drop) {
		return 0, err // no vault is made for nothing
	}
	removed := 0
	err = s.change(func(grants []Grant) []Grant {
		kept := without(grants, drop)
		removed = len(grants) - len(kept)
		return kept
	})
	return removed, err
}

// CheckWritable implements Store: what cannot be read is not changed, such as what is sealed with a
// key that is not there. Where nothing can be sealed a plain file will do.
func (s *SealedStore) CheckWritable() error {
	_, err := s.Grants()
	return err
}

// Unsealed says why the grants are in a plain file, or what is wrong with one that
// is there beside the sealed ones; empty if all is as it should be.
func (s *SealedStore) Unsealed() string {
	sealed, err := s.vault.Get(context.Background(), sealedID)
	_, absent := os.Lstat(s.plain.path)
	switch {
	case absent != nil || err != nil && !isUnsealable(err):
		return ""
	case err != nil:
		return err.Error()
	}
	if aside, _ := s.Unverified(); len(aside) > 0 { // who reads the grants hears what is wrong
		return fmt.Sprintf("%s allows what counts for nothing (%d), since whoever writes files may have put it there; "+
			"look at it and run aai-gateway consent takeover --file, or remove it", s.plain.path, len(aside))
	}
	if sealed == nil {
		return "they will be sealed with the next change of them"
	}
	return s.plain.path + " counts for nothing, because the consents are sealed; remove it"
}

func isUnsealable(err error) bool { return errors.Is(err, errors.ErrUnsupported) }

// parsed returns the grants in the record. They are parsed when it has changed.
func (s *SealedStore) parsed(sealed []byte) ([]Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil || !bytes.Equal(s.seen, sealed) {
		grants, err := parse(sealed)
		if err != nil {
			return nil, fmt.Errorf("the sealed record %q is none of consents: %w", sealedID, err)
		}
		s.seen, s.grants = sealed, grants
	}
	return s.grants, nil
}

// change edits the grants where they are.
func (s *SealedStore) change(edit func([]Grant) []Grant) error {
	var plain []Grant
	moved, unlock := false, func() {}
	defer func() { unlock() }()
	err := s.vault.Update(context.Background(), sealedID, func(old []byte) (_ []byte, err error) {
		var grants []Grant
		if old != nil {
			grants, err = parse(old)
		} else if _, absent := os.Lstat(s.plain.path); !errors.Is(absent, fs.ErrNotExist) {
			// The lock is held until the file is removed: a process that can seal
			// nothing may want to write there.
			plain, unlock, err = s.plain.lockAndRead()
			grants, moved = refusalsOf(plain), err == nil
		}
		if err != nil {
			return nil, err
		}
		return json.Marshal(storeFile{storeVersion, edit(grants)})
	})
	if isUnsealable(err) {
		return s.changePlain(edit)
	}
	if err == nil && moved && !slices.ContainsFunc(plain, isPermission) {
		_ = os.Remove(s.plain.path) // left behind it does no harm: see Unsealed
	}
	return err
}

// changePlain edits the plain file, unless somebody has sealed it just now.
func (s *SealedStore) changePlain(edit func([]Grant) []Grant) error {
	return s.plain.change(func(grants []Grant) ([]Grant, error) {
		sealed, err := s.vault.Get(context.Background(), sealedID)
		if sealed != nil || err != nil && !isUnsealable(err) {
			return nil, errors.Join(errors.New("the consents were sealed in the meantime; try again"), err)
		}
		return edit(grants), nil
	})
}
