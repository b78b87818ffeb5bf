package policy

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	"github.com/gybob/aai-gateway"
)

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
