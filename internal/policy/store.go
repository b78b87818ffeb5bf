package policy

import (
	"context"
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

// sealRetryInterval is the time until a failed check for sealing is repeated.
const sealRetryInterval = time.Minute

// A GrantStore keeps grants sealed, so that a program that can only write files, such as
// an agent with a file tool, cannot grant itself anything. If sealing is unsupported,
// grants stay in a plain JSON file that only its owner may read: asking again would help
// no one, and refusals must not be lost. If sealing is possible, only the refusals of such
// a file count; the person may import its permissions, see Unverified and Import. The first
// sealed change copies its refusals; from then on the file is ignored.
//
// Both places have one format. The store reads it again for each call, so a grant from one
// process is valid in all others at once.
type GrantStore struct {
	path     string
	vault    Sealer
	external bool

	mu      sync.Mutex
	seen    []byte // the content that grants were parsed from
	grants  []Grant
	canSeal bool
	tried   time.Time // the last check for sealing
}

// NewSealedStore returns a store in the vault, or in the plain file at path while sealing
// is unsupported. The file need not exist.
func NewSealedStore(path string, vault Sealer) *GrantStore {
	return &GrantStore{path: path, vault: vault}
}

// NewExternalStore returns a store for an installation outside the account's home
// directory. The process that started the gateway chose the folder and may have planted any
// file there. So a permission counts only if it is sealed. From the plain file only
// refusals count, and the store neither changes it nor imports a permission from it. The
// vault must not use a key from a place that the environment names.
func NewExternalStore(path string, vault Sealer) *GrantStore {
	return &GrantStore{path: path, vault: vault, external: true}
}

// NewFileStore returns a store that seals nothing.
func NewFileStore(path string) *GrantStore { return NewSealedStore(path, noSealer{}) }

// A noSealer is a Sealer that cannot seal.
type noSealer struct{}

func (noSealer) Get(context.Context, string) ([]byte, error) { return nil, errors.ErrUnsupported }

func (noSealer) Update(context.Context, string, func([]byte) ([]byte, error)) error {
	return errors.ErrUnsupported
}

func (noSealer) CheckSealing(context.Context) error { return errors.ErrUnsupported }

func isUnsealable(err error) bool { return errors.Is(err, errors.ErrUnsupported) }

// Grants implements Store. An invalid record or file results in an error, never in an empty
// list: its refusals must not be lost.
func (s *GrantStore) Grants() ([]Grant, error) {
	sealed, err := s.vault.Get(context.Background(), sealedID)
	switch {
	case err != nil && !isUnsealable(err):
		return nil, err
	case sealed != nil:
		return s.parseSealed(sealed)
	}
	grants, err := s.plainGrants()
	if err != nil || len(grants) == 0 {
		return grants, err
	}
	able, err := s.checkSealing()
	switch {
	case err != nil:
		return nil, err
	case able || s.external:
		return refusalsOf(grants), nil
	}
	marked := slices.Clone(grants)
	for i := range marked {
		marked[i].Unsealed = true
	}
	return marked, nil
}

// checkSealing reports whether sealing is possible. After one success it stays true: a
// later failure means that the key is missing, not that sealing is unsupported.
func (s *GrantStore) checkSealing() (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.canSeal || !s.tried.IsZero() && time.Since(s.tried) < sealRetryInterval {
		return s.canSeal, nil
	}
	err := s.vault.CheckSealing(context.Background())
	if err != nil && !isUnsealable(err) {
		return false, err
	}
	s.canSeal, s.tried = err == nil, time.Now()
	return s.canSeal, nil
}

// CheckWritable implements Store: an unreadable store cannot change, for example if its
// key is missing. Without sealing, the plain file suffices in the account's home directory.
func (s *GrantStore) CheckWritable() error {
	if s.external {
		return notStoredError(s.vault.CheckSealing(context.Background()))
	}
	_, err := s.Grants()
	return err
}

// Add implements Store.
func (s *GrantStore) Add(added ...Grant) error {
	return s.change(func(grants []Grant) []Grant {
		kept := without(grants, func(old Grant) bool { return slices.ContainsFunc(added, old.sameSubject) })
		return append(kept, added...)
	})
}

// Remove implements Store.
func (s *GrantStore) Remove(drop func(Grant) bool) (int, error) {
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

// change edits the grants in their current place.
func (s *GrantStore) change(edit func([]Grant) []Grant) error {
	var plain []Grant
	moved, unlock := false, func() {}
	defer func() { unlock() }()
	err := s.vault.Update(context.Background(), sealedID, func(old []byte) (_ []byte, err error) {
		var grants []Grant
		if old != nil {
			grants, err = s.parseSealed(old)
		} else if s.external {
			plain, err = s.plainGrants()
		} else if _, absent := os.Lstat(s.path); !errors.Is(absent, fs.ErrNotExist) {
			// The lock is held until the file is removed: a process without sealing may
			// want to write there.
			plain, unlock, err = s.lockPlain()
			moved = err == nil
		}
		if err != nil {
			return nil, err
		}
		return encodeGrants(edit(append(grants, refusalsOf(plain)...)))
	})
	switch {
	case isUnsealable(err) && s.external:
		return notStoredError(err)
	case isUnsealable(err):
		return s.changePlain(edit)
	case err == nil && moved && !slices.ContainsFunc(plain, isPermission):
		_ = os.Remove(s.path) // a remaining file is harmless: see UnsealedWarning
	}
	return err
}

func notStoredError(err error) error {
	if !isUnsealable(err) {
		return err
	}
	e := aai.Errorf(aai.ConsentRequired, "HOME or XDG_DATA_HOME is not this account's, and there is no keychain to seal the permissions there: %w", err)
	e.Hint = "Start the gateway with the account's own HOME, or have root write the permissions into " + RootPolicyPath + "."
	return e
}

// changePlain edits the plain file under its lock, unless another process has just sealed
// the grants.
func (s *GrantStore) changePlain(edit func([]Grant) []Grant) error {
	err := atomicfile.Update(context.Background(), s.path, atomicfile.ReadLimits{Size: maxStore}, func(old []byte) (_ []byte, err error) {
		sealed, err := s.vault.Get(context.Background(), sealedID)
		if sealed != nil || err != nil && !isUnsealable(err) {
			return nil, errors.Join(errors.New("the consents were sealed in the meantime; try again"), err)
		}
		var grants []Grant
		if old != nil {
			if grants, err = parseGrants(old); err != nil {
				return nil, err
			}
		}
		return indentGrants(edit(grants))
	})
	if err != nil {
		return fmt.Errorf("change the consents in %s: %w", s.path, err)
	}
	return nil
}

// UnsealedWarning returns the reason why grants are in a plain file, or a warning about a plain
// file without effect. It returns "" if there is no such file.
func (s *GrantStore) UnsealedWarning() string {
	sealed, err := s.vault.Get(context.Background(), sealedID)
	_, absent := os.Lstat(s.path)
	switch {
	case s.external && !errors.Is(absent, fs.ErrNotExist):
		return "HOME or XDG_DATA_HOME is not this account's, so the permissions in " + s.path + " have no effect"
	case absent != nil || err != nil && !isUnsealable(err):
		return ""
	case err != nil:
		return err.Error()
	}
	if aside, _ := s.Unverified(); len(aside) > 0 { // an error shows up when the grants are read
		return fmt.Sprintf("%s has permissions without effect (%d), since any program may have written them there; "+
			"check them and run aai-gateway consent takeover --file, or remove it", s.path, len(aside))
	}
	if sealed == nil {
		return "they will be sealed with the next change of them"
	}
	return s.path + " has no effect, because the consents are sealed; remove it"
}

// Unverified returns the permissions in the plain file that are ignored because they are
// not sealed although sealing is possible. An external store has none: it imports nothing.
func (s *GrantStore) Unverified() ([]Grant, error) {
	if s.external {
		return nil, nil
	}
	sealed, err := s.vault.Get(context.Background(), sealedID)
	if err != nil {
		if isUnsealable(err) {
			err = nil
		}
		return nil, err
	}
	grants, err := s.plainGrants()
	if grants = without(grants, isRefusal); err != nil || len(grants) == 0 {
		return nil, err
	}
	if sealed == nil {
		if able, err := s.checkSealing(); !able || err != nil {
			return nil, err
		}
	}
	return grants, nil
}

// Import seals the permissions of the plain file for which meant returns true, and returns their number.
// The person must have reviewed them and reauthenticated through the channel by. Sealed decisions stay.
func (s *GrantStore) Import(meant func(Grant) bool, by aai.Channel) (int, error) {
	if s.external {
		return 0, errors.New(s.UnsealedWarning())
	}
	grants, unlock, err := s.lockPlain()
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
			return 0, fmt.Errorf("the file %s has two decisions for %s on %s of %s; remove the row that you do not know", s.path, g.Caller, g.Tool, g.App)
		}
	}
	err = s.vault.Update(context.Background(), sealedID, func(old []byte) ([]byte, error) {
		sealed, err := refusalsOf(left), error(nil)
		if old != nil {
			sealed, err = s.parseSealed(old)
		}
		if err != nil {
			return nil, err
		}
		added := without(taken, func(g Grant) bool { return slices.ContainsFunc(sealed, g.sameSubject) })
		return encodeGrants(append(sealed, added...))
	})
	if err != nil {
		return 0, err
	}
	return len(taken), s.keepInPlain(left)
}

// keepInPlain leaves permissions that were not imported in the plain file. It removes a
// file with refusals only, since these are sealed. The caller must hold the file's lock.
func (s *GrantStore) keepInPlain(grants []Grant) error {
	if !slices.ContainsFunc(grants, isPermission) {
		if err := os.Remove(s.path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	b, err := indentGrants(grants)
	if err != nil {
		return err
	}
	return atomicfile.ReplaceDurable(s.path, b)
}
