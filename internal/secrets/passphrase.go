package secrets

import (
	"context"
	"crypto/rand"
	"errors"

	"golang.org/x/crypto/scrypt"
)

// Parameters of scrypt. N = 2^17, r = 8 and p = 1 are the minimum of OWASP's Password
// Storage Cheat Sheet; they take half a second and 128 MiB.
const (
	scryptN    = 1 << 17
	maxScryptN = 1 << 20 // 1 GiB; no file may ask for more
	scryptR    = 8
	scryptP    = 1
	saltSize   = 16
)

// minPassphrase is the minimum length of a new passphrase, in bytes.
const minPassphrase = 8

// passphraseTries is the maximum number of attempts.
const passphraseTries = 3

// scryptParams are the parameters by which scrypt (RFC 7914) derives the key.
type scryptParams struct {
	Salt []byte `json:"salt"`
	N    int    `json:"n"`
}

func (s *scryptParams) check() error {
	if len(s.Salt) != saltSize || s.N < scryptN || s.N > maxScryptN || s.N&(s.N-1) != 0 {
		return errors.New(`"scrypt" was not written by this gateway`)
	}
	return nil
}

func (s *scryptParams) key(passphrase string) ([]byte, error) {
	return scrypt.Key([]byte(passphrase), s.Salt, s.N, scryptR, scryptP, keySize)
}

// A PassphrasePrompt asks the person for a secret without echoing it.
type PassphrasePrompt func(ctx context.Context, prompt string) (string, error)

// askExisting asks for the passphrase of the label's key.
func (ask PassphrasePrompt) askExisting(ctx context.Context, l *label) ([]byte, error) {
	prompt := "Passphrase of your secrets: "
	for range passphraseTries {
		typed, err := ask(ctx, prompt)
		if err != nil {
			return nil, err
		}
		key, err := l.Scrypt.key(typed)
		if err != nil {
			return nil, err
		}
		if k, err := newSealer(key); err != nil || k.name() == l.Key {
			return key, err
		}
		prompt = "That is not it. Passphrase of your secrets: "
	}
	return nil, errors.New("the passphrase was wrong")
}

// askNew asks for a new passphrase and stores its scrypt parameters in the label.
func (ask PassphrasePrompt) askNew(ctx context.Context, l *label) ([]byte, error) {
	first, err := ask(ctx, "There is no keychain here. Choose a passphrase for your secrets: ")
	if err != nil {
		return nil, err
	}
	if len(first) < minPassphrase {
		return nil, errors.New("the passphrase is too short; expected at least 8 characters")
	}
	second, err := ask(ctx, "Once more: ")
	if err != nil {
		return nil, err
	}
	if first != second {
		return nil, errors.New("the two passphrases differ")
	}
	s := &scryptParams{Salt: make([]byte, saltSize), N: scryptN}
	_, _ = rand.Read(s.Salt) // never fails
	l.Scrypt = s
	return s.key(first)
}
