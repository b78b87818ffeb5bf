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

// sealRetryInterval is how long it is believed that nothing can be sealed.
const sealRetryInterval = time.Minute

// An ability is whether anything can be sealed, as far as is known. Once it could, it
// counts as if it could: what is missing then is the key, and not the place for one.
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

// plainGrants are the grants that count of the plain file, where none are sealed. Where
// something can be sealed, nobody knows who put a permission there: it may be from when
// nothing could be, or be planted, so that a person has to say. A refusal holds.
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

// Unverified are the permissions in the plain file that count for nothing, because they are
// not sealed and could be.
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

// Import seals permissions of the plain file that a person has looked at, and has
// proved by the channel that they mean. What was decided since stays.
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
			return 0, fmt.Errorf("the file %s says twice what %s may do with %s of %s; remove the row that you do not know", s.plain.path, g.Caller, g.Tool, g.App)
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

// keepInPlain keeps in the plain file what nobody has taken over: of refusals, which are
// sealed, nothing. It is called with the lock of the file.
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
