package reauth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/crypto/scrypt"

	"github.com/gybob/aai-gateway"
)

// How a passphrase is stretched: N of 2^17 with r = 8 and p = 1, the least that OWASP's
// Password Storage Cheat Sheet allows, takes half a second and 128 MiB.
const (
	scryptN  = 1 << 17
	maxN     = 1 << 20
	scryptR  = 8
	scryptP  = 1
	keySize  = 32
	saltSize = 16
)

// MinPassphrase is how short a passphrase may be, in bytes.
const MinPassphrase = 8

// So many wrong passphrases cost nothing but their time; each more doubles the wait.
const (
	maxFreeTries = 3
	maxWait      = time.Hour
)

// passphraseID names the record.
const passphraseID = "proof/passphrase"

// A Passphrase is the one of an installation. It is safe for concurrent use, also by
// several processes.
type Passphrase struct {
	vault RecordStore
	plain plainFile
	now   func() time.Time
	n     int
}

// NewPassphrase returns the passphrase in the vault. Where nothing can be sealed, its
// digest is in the plain file; "": then there can be none.
func NewPassphrase(vault RecordStore, file string) *Passphrase {
	return &Passphrase{vault: vault, plain: plainFile(file), now: time.Now, n: scryptN}
}

// passphraseRecord is what is known of the passphrase.
type passphraseRecord struct {
	Salt []byte `json:"salt"`
	N    int    `json:"n"`
	Key  []byte `json:"key"`
	// Failed is how often something else was typed since it was last right, and Until
	// the time before which nothing is looked at.
	Failed int       `json:"failed,omitempty"`
	Until  time.Time `json:"until,omitzero"`
}

func (k *passphraseRecord) deriveKey(typed string) ([]byte, error) {
	return scrypt.Key([]byte(typed), k.Salt, k.N, scryptR, scryptP, keySize)
}

func parsePassphraseRecord(b []byte) (*passphraseRecord, error) {
	var k passphraseRecord
	err := json.Unmarshal(b, &k)
	if err == nil && (len(k.Salt) != saltSize || len(k.Key) != keySize || k.N < 2 || k.N > maxN || k.N&(k.N-1) != 0) {
		err = errors.New("it is not what this gateway writes")
	}
	if err != nil {
		return nil, fmt.Errorf("what is known of the passphrase cannot be understood: %w", err)
	}
	return &k, nil
}

// IsSet reports whether there is one. What cannot be read counts as one: it must not be
// replaced by whoever comes.
func (p *Passphrase) IsSet(ctx context.Context) bool {
	b, err := p.get(ctx)
	return b != nil || err != nil
}

func (p *Passphrase) get(ctx context.Context) ([]byte, error) {
	b, err := p.vault.Get(ctx, passphraseID)
	if err != nil && !isUnsealable(err) || b != nil || p.plain == "" {
		if isUnsealable(err) {
			err = nil
		}
		return b, err
	}
	return p.plain.get()
}

// update changes the record where it is: what was set in the plain file goes on there.
func (p *Passphrase) update(ctx context.Context, edit func(old []byte) ([]byte, error)) error {
	sealed, err := p.vault.Get(ctx, passphraseID)
	if err != nil && !isUnsealable(err) {
		return err
	}
	if sealed == nil && p.plain != "" {
		if b, err := p.plain.get(); b != nil || err != nil {
			return p.plain.update(ctx, edit)
		}
	}
	err = p.vault.Update(ctx, passphraseID, edit)
	if isUnsealable(err) && p.plain != "" {
		return p.plain.update(ctx, edit)
	}
	return err
}

// CheckPassphrase says why what was typed is not the passphrase, as an *aai.Error.
func (p *Passphrase) CheckPassphrase(ctx context.Context, typed string) error {
	var k *passphraseRecord
	err := p.update(ctx, func(old []byte) (_ []byte, err error) {
		if old == nil {
			return nil, aai.Errorf(aai.PermissionDenied, "no passphrase was set")
		}
		if k, err = parsePassphraseRecord(old); err != nil {
			return nil, err
		}
		now := p.now()
		if left := k.Until.Sub(now); 0 < left && left <= maxWait {
			return nil, retryLater(left)
		}
		k.Failed++
		k.Until = now.Add(waitAfter(k.Failed))
		return json.Marshal(k)
	})
	if err != nil {
		return asError(err)
	}
	key, err := k.deriveKey(typed)
	if err != nil {
		return asError(err)
	}
	if subtle.ConstantTimeCompare(key, k.Key) != 1 {
		e := aai.Errorf(aai.PermissionDenied, "that is not the passphrase of this gateway")
		e.RetryAfter = max(0, k.Until.Sub(p.now()))
		return e
	}
	err = p.update(ctx, func(old []byte) ([]byte, error) {
		now, err := parsePassphraseRecord(old)
		if err != nil || string(now.Salt) != string(k.Salt) {
			return nil, errors.Join(errors.New("the passphrase was changed in the meantime"), err)
		}
		now.Failed, now.Until = 0, time.Time{}
		return json.Marshal(now)
	})
	return asError(err)
}

// waitAfter is how long nothing is looked at after so many failures.
func waitAfter(failures int) time.Duration {
	if failures <= maxFreeTries {
		return 0
	}
	return min(maxWait, time.Second<<min(failures-maxFreeTries-1, 20))
}

func retryLater(left time.Duration) error {
	e := aai.Errorf(aai.PermissionDenied, "there were too many wrong passphrases; the next is looked at in %s", left.Round(time.Second))
	e.RetryAfter = left
	return e
}

// CheckAvailable says why no passphrase can be kept, as an *aai.Error; nil where one can.
func (p *Passphrase) CheckAvailable(ctx context.Context) error {
	if p.plain != "" {
		return nil
	}
	err := p.vault.CheckSealing(ctx)
	if !isUnsealable(err) {
		return asError(err)
	}
	e := aai.Errorf(aai.AutomationNotSupported, "a passphrase cannot be kept here: HOME or XDG_DATA_HOME is not this account's, so it must be sealed, and there is no keychain, while a key that the environment names counts for nothing there")
	e.Err = errors.ErrUnsupported
	e.Hint = "Set it with the account's own HOME and without XDG_DATA_HOME, where it is for the gateway of that home; or start and unlock the keychain of the session."
	return e
}

// Change sets the passphrase. Whoever calls it has seen a proof.
func (p *Passphrase) Change(ctx context.Context, fresh string) error {
	if len(fresh) < MinPassphrase {
		return aai.Errorf(aai.InvalidParams, "the passphrase is too short; expected at least %d characters", MinPassphrase)
	}
	k := &passphraseRecord{Salt: make([]byte, saltSize), N: p.n}
	_, _ = rand.Read(k.Salt) // never fails
	var err error
	if k.Key, err = k.deriveKey(fresh); err != nil {
		return asError(err)
	}
	b, err := json.Marshal(k)
	if err != nil {
		return asError(err)
	}
	err = p.vault.Update(ctx, passphraseID, func([]byte) ([]byte, error) { return b, nil })
	switch {
	case err == nil && p.plain != "":
		_ = os.Remove(string(p.plain)) // left behind it counts for nothing
	case isUnsealable(err) && p.plain != "":
		err = p.plain.update(ctx, func([]byte) ([]byte, error) { return b, nil })
	}
	return asError(err)
}

// asError is an error that callers understand.
func asError(err error) error {
	if _, ok := errors.AsType[*aai.Error](err); ok || err == nil {
		return err
	}
	return aai.Errorf(aai.AutomationFailed, "the passphrase could not be looked at or kept: %w", err)
}
