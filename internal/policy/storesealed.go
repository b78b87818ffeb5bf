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

// sealRetryInterval is the time until a failed check for sealing is repeated.
const sealRetryInterval = time.Minute

// A sealability caches whether sealing is possible. After one success it stays true: a
// later failure means that the key is missing, not that sealing is unsupported.
type sealability struct {
	mu      sync.Mutex
	canSeal bool
	tried   time.Time
}

func (a *sealability) check(vault Sealer) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.canSeal || !a.tried.IsZero() && time.Since(a.tried) < sealRetryInterval {
		return a.canSeal, nil
	}
	err := vault.CheckSealing(context.Background())
	if err != nil && !isUnsealable(err) {
		return false, err
	}
	a.canSeal, a.tried = err == nil, time.Now()
	return a.canSeal, nil
}

// plainGrants returns the grants of the plain file that count while none are sealed. If
// sealing is possible, the origin of a permission in the file is unknown: it may be old or
// planted, so a person has to confirm it. Refusals always count.
func (s *SealedStore) plainGrants() ([]Grant, error) {
	grants, err := s.plain.Grants()
	if err != nil || len(grants) == 0 {
		return grants, err
	}
	able, err := s.sealability.check(s.vault)
	if err != nil {
		return nil, err
	}
	if able {
		return refusalsOf(grants), nil
	}
	marked := slices.Clone(grants)
	for i := range marked {
		marked[i].Unsealed = true
	}
	return marked, nil
}

func isPermission(g Grant) bool { return g.Decision != Deny }

func refusalsOf(grants []Grant) []Grant { return without(grants, isPermission) }

// Unverified returns the permissions in the plain file that are ignored because they are
// not sealed although sealing is possible.
func (s *SealedStore) Unverified() ([]Grant, error) {
	sealed, err := s.vault.Get(context.Background(), sealedID)
	if err != nil {
		if isUnsealable(err) {
			err = nil
		}
		return nil, err
	}
	grants, err := s.plain.Grants()
	if grants = slices.DeleteFunc(slices.Clone(grants), func(g Grant) bool { return !isPermission(g) }); err != nil || len(grants) == 0 {
		return nil, err
	}
	if sealed == nil {
		if able, err := s.sealability.check(s.vault); !able || err != nil {
			return nil, err
		}
	}
	return grants, nil
}

// Import seals the permissions of the plain file for which meant returns true, and returns their number.
// The person must have reviewed them and reauthenticated through the channel by. Sealed decisions stay.
func (s *SealedStore) Import(meant func(Grant) bool, by aai.Channel) (int, error) {
	grants, unlock, err := s.plain.lockAndRead()
	if err != nil {
		return 0, err
	}
	defer unlock()
	var taken []Grant
	left := without(grants, func(g Grant) bool {
		if is := isPermission(g) && meant(g); !is {
			return false
		}
		g.Channel = by
		taken = append(taken, g)
		return true
	})
	for i, g := range taken {
		if slices.ContainsFunc(taken[:i], g.sameSubject) {
			return 0, fmt.Errorf("the file %s has two decisions for %s on %s of %s; remove the row that you do not know", s.plain.path, g.Caller, g.Tool, g.App)
		}
	}
	err = s.vault.Update(context.Background(), sealedID, func(old []byte) ([]byte, error) {
		sealed, err := refusalsOf(left), error(nil)
		if old != nil {
			sealed, err = parse(old)
		}
		for _, g := range taken {
			if !slices.ContainsFunc(sealed, g.sameSubject) {
				sealed = append(sealed, g)
			}
		}
		return encode(sealed, err)
	})
	if err != nil {
		return 0, err
	}
	return len(taken), s.keepInPlain(left)
}

// keepInPlain leaves permissions that were not imported in the plain file. It removes a
// file with refusals only, since these are sealed. The caller must hold the file's lock.
func (s *SealedStore) keepInPlain(grants []Grant) error {
	if !slices.ContainsFunc(grants, isPermission) {
		if err := os.Remove(s.plain.path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	b, err := marshalStore(grants)
	if err != nil {
		return err
	}
	return atomicfile.ReplaceDurable(s.plain.path, b)
}

func encode(grants []Grant, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return json.Marshal(storeFile{storeVersion, grants})
}
