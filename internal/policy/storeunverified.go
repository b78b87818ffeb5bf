package policy

import (
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
