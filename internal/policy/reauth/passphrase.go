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

// Parameters of scrypt. N = 2^17, r = 8 and p = 1 are the minimum of OWASP's Password
// Storage Cheat Sheet; they take half a second and 128 MiB.
const (
	scryptN  = 1 << 17
	maxN     = 1 << 20
	scryptR  = 8
	scryptP  = 1
	keySize  = 32
	saltSize = 16
)

// MinPassphraseLength is the minimum length of a passphrase, in bytes.
const MinPassphraseLength = 8

// The first maxFreeTries wrong passphrases cause no wait. The next one causes a wait of a second,
// and each later one doubles the wait, up to maxWait.
const (
	maxFreeTries = 3
	maxWait      = time.Hour
)

// passphraseID identifies the record of the passphrase in the vault.
const passphraseID = "proof/passphrase"

// A Passphrase stores the salted hash of an installation's passphrase, checks typed passphrases
// against it, and sets a new one. It is safe for concurrent use, also by several processes.
type Passphrase struct {
	vault RecordStore
	plain plainFile
	now   func() time.Time
	n     int
}

// NewPassphrase returns a Passphrase that stores its record in the vault, or in the plain file if
// the vault cannot seal. If the file name is empty too, no passphrase can be set.
func NewPassphrase(vault RecordStore, file string) *Passphrase {
	return &Passphrase{vault: vault, plain: plainFile(file), now: time.Now, n: scryptN}
}

// passphraseRecord is the stored form of the passphrase.
type passphraseRecord struct {
	Salt []byte `json:"salt"`
	N    int    `json:"n"`
	Key  []byte `json:"key"`
	// Failed counts wrong attempts since the last correct one. Until is the time before
	// which attempts are rejected unchecked.
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
		err = errors.New("it was not written by this gateway")
	}
	if err != nil {
		return nil, fmt.Errorf("the stored passphrase data cannot be parsed: %w", err)
	}
	return &k, nil
}

// IsSet reports whether a passphrase is set. An unreadable record counts as set, so that
// no caller can replace it.
func (p *Passphrase) IsSet(ctx context.Context) bool {
	b, err := p.get(ctx)
	return b != nil || err != nil
}

// CheckReadable returns an *aai.Error if the record of the passphrase cannot be read. Each typed passphrase is
// rejected then.
func (p *Passphrase) CheckReadable(ctx context.Context) error {
	b, err := p.get(ctx)
	if err == nil && b != nil {
		_, err = parsePassphraseRecord(b)
	}
	if _, ok := errors.AsType[*aai.Error](err); ok || err == nil {
		return err
	}
	return aai.Errorf(aai.AutomationFailed, "the record of the passphrase (%s, or %q among the secrets): %w", p.plain, passphraseID, err)
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

// update changes the record in its current place: a record in the plain file stays there.
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

// CheckPassphrase returns an *aai.Error if typed is not the passphrase.
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

// waitAfter returns the wait after the number of failures.
func waitAfter(failures int) time.Duration {
	if failures <= maxFreeTries {
		return 0
	}
	return min(maxWait, time.Second<<min(failures-maxFreeTries-1, 20))
}

func retryLater(left time.Duration) error {
	e := aai.Errorf(aai.PermissionDenied, "there were too many wrong passphrases; try again in %s", left.Round(time.Second))
	e.RetryAfter = left
	return e
}

// CheckAvailable returns an *aai.Error if no passphrase can be stored.
func (p *Passphrase) CheckAvailable(ctx context.Context) error {
	if p.plain != "" {
		return nil
	}
	err := p.vault.CheckSealing(ctx)
	if !isUnsealable(err) {
		return asError(err)
	}
	e := aai.Errorf(aai.AutomationNotSupported, "a passphrase cannot be kept here: HOME or XDG_DATA_HOME is not this account's, so it must be sealed, and there is no keychain; a key named in the environment is ignored there")
	e.Err = errors.ErrUnsupported
	e.Hint = "Set it with the account's own HOME and without XDG_DATA_HOME, where it is for the gateway of that home; or start and unlock the keychain of the session."
	return e
}

// Change sets the passphrase. The caller must have reauthenticated the person.
func (p *Passphrase) Change(ctx context.Context, fresh string) error {
	if len(fresh) < MinPassphraseLength {
		return aai.Errorf(aai.InvalidParams, "the passphrase is too short; expected at least %d characters", MinPassphraseLength)
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
		_ = os.Remove(string(p.plain)) // a remaining file is ignored
	case isUnsealable(err) && p.plain != "":
		err = p.plain.update(ctx, func([]byte) ([]byte, error) { return b, nil })
	}
	return asError(err)
}

// asError converts err to an *aai.Error.
func asError(err error) error {
	if _, ok := errors.AsType[*aai.Error](err); ok || err == nil {
		return err
	}
	return aai.Errorf(aai.AutomationFailed, "the passphrase could not be checked or saved: %w", err)
}
