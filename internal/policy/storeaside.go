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

	"aai"
	"aai/internal/wholefile"
)

// sealRest is how long it is believed that nothing can be sealed.
const sealRest = time.Minute

// An ability is whether anything can be sealed, as far as is known. Once it could, it
// counts as if it could: what is missing then is the key, and not the place for one.
type ability struct {
	mu    sync.Mutex
	able  bool
	tried time.Time
}

func (a *ability) of(vault Sealer) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.able || !a.tried.IsZero() && time.Since(a.tried) < sealRest {
		return a.able, nil
	}
	err := vault.Seals(context.Background())
	if err != nil && !isUnsealable(err) {
		return false, err
	}
	a.able, a.tried = err == nil, time.Now()
	return a.able, nil
}

// fromPlain are the grants that count of the plain file, where none are sealed. Where
// something can be sealed, nobody knows who put a permission there: it may be from when
// nothing could be, or be planted, so that a person has to say. A refusal holds.
func (s *SealedStore) fromPlain() ([]Grant, error) {
	grants, err := s.plain.Grants()
	if err != nil || len(grants) == 0 {
		return grants, err
	}
	able, err := s.ability.of(s.vault)
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

// Aside are the permissions in the plain file that count for nothing, because they are
// not sealed and could be.
func (s *SealedStore) Aside() ([]Grant, error) {
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
		if able, err := s.ability.of(s.vault); !able || err != nil {
			return nil, err
		}
	}
	return grants, nil
}

// TakeOver seals permissions of the plain file that a person has looked at, and has
// proved by the channel that they mean. What was decided since stays.
func (s *SealedStore) TakeOver(meant func(Grant) bool, by aai.Channel) (int, error) {
	grants, unlock, err := s.plain.take()
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
	return len(taken), s.leave(left)
}

// leave keeps in the plain file what nobody has taken over: of refusals, which are
// sealed, nothing. It is called with the lock of the file.
func (s *SealedStore) leave(grants []Grant) error {
	if !slices.ContainsFunc(grants, isPermission) {
		if err := os.Remove(s.plain.path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	b, err := laidOut(grants)
	if err != nil {
		return err
	}
	return wholefile.Keep(s.plain.path, b)
}

func encode(grants []Grant, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return json.Marshal(storeFile{storeVersion, grants})
}
