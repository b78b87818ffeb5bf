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

// A Sealer keeps records that other programs can neither read nor write, such as
// internal/secrets's Vault. Its methods are safe for concurrent use, also by several
// processes.
type Sealer interface {
	// Get returns a record, or nil if it is absent. An error that wraps
	// errors.ErrUnsupported means that this computer cannot seal anything and never did.
	Get(ctx context.Context, id string) ([]byte, error)
	// Update changes a record, completely or not at all. edit gets the current record, or
	// nil, and returns the new one. Errors are as in Get.
	Update(ctx context.Context, id string, edit func(old []byte) ([]byte, error)) error
	// CheckSealing returns an error if sealing is not possible now. Errors are as in Get.
	CheckSealing(ctx context.Context) error
}

// sealedID identifies the record of the consents.
const sealedID = "policy/consent"

// A SealedStore keeps grants sealed, so that a program that can only write files, such as
// an agent with a file tool, cannot grant itself anything. If sealing is unsupported,
// grants stay in the plain file: asking again would help no one, and refusals must not be
// lost. If sealing is possible, only the refusals of such a file count; the person may
// import its permissions, see Unverified and Import. The first sealed change copies its
// refusals; from then on the file is ignored.
type SealedStore struct {
	plain *FileStore
	vault Sealer

	sealability sealability

	mu     sync.Mutex
	seen   []byte // the record that grants were parsed from
	grants []Grant
}

// NewSealedStore returns a store in the vault, or in the plain file while sealing is
// unsupported.
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
		return 0, err // no vault is created without a change
	}
	removed := 0
	err = s.change(func(grants []Grant) []Grant {
		kept := without(grants, drop)
		removed = len(grants) - len(kept)
		return kept
	})
	return removed, err
}

// CheckWritable implements Store: an unreadable store cannot change, for example if its
// key is missing. Without sealing, the plain file suffices.
func (s *SealedStore) CheckWritable() error {
	_, err := s.Grants()
	return err
}

// UnsealedWarning returns the reason why grants are in a plain file, or a warning about a plain
// file beside the sealed record. It returns "" if there is no such file.
func (s *SealedStore) UnsealedWarning() string {
	sealed, err := s.vault.Get(context.Background(), sealedID)
	_, absent := os.Lstat(s.plain.path)
	switch {
	case absent != nil || err != nil && !isUnsealable(err):
		return ""
	case err != nil:
		return err.Error()
	}
	if aside, _ := s.Unverified(); len(aside) > 0 { // an error shows up when the grants are read
		return fmt.Sprintf("%s has permissions without effect (%d), since any program may have written them there; "+
			"check them and run aai-gateway consent takeover --file, or remove it", s.plain.path, len(aside))
	}
	if sealed == nil {
		return "they will be sealed with the next change of them"
	}
	return s.plain.path + " has no effect, because the consents are sealed; remove it"
}

func isUnsealable(err error) bool { return errors.Is(err, errors.ErrUnsupported) }

// parsed returns the grants in the record. It parses the record only after a change.
func (s *SealedStore) parsed(sealed []byte) ([]Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil || !bytes.Equal(s.seen, sealed) {
		grants, err := parse(sealed)
		if err != nil {
			return nil, fmt.Errorf("the sealed record %q has no consents: %w", sealedID, err)
		}
		s.seen, s.grants = sealed, grants
	}
	return s.grants, nil
}

// change edits the grants in their current place.
func (s *SealedStore) change(edit func([]Grant) []Grant) error {
	var plain []Grant
	moved, unlock := false, func() {}
	defer func() { unlock() }()
	err := s.vault.Update(context.Background(), sealedID, func(old []byte) (_ []byte, err error) {
		var grants []Grant
		if old != nil {
			grants, err = parse(old)
		} else if _, absent := os.Lstat(s.plain.path); !errors.Is(absent, fs.ErrNotExist) {
			// The lock is held until the file is removed: a process without sealing may
			// want to write there.
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
		_ = os.Remove(s.plain.path) // a remaining file is harmless: see Unsealed
	}
	return err
}

// changePlain edits the plain file, unless another process has just sealed the grants.
func (s *SealedStore) changePlain(edit func([]Grant) []Grant) error {
	return s.plain.change(func(grants []Grant) ([]Grant, error) {
		sealed, err := s.vault.Get(context.Background(), sealedID)
		if sealed != nil || err != nil && !isUnsealable(err) {
			return nil, errors.Join(errors.New("the consents were sealed in the meantime; try again"), err)
		}
		return edit(grants), nil
	})
}
