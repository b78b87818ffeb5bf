package secrets

import (
	"context"
	"crypto/rand"
	"errors"

	"golang.org/x/crypto/scrypt"
)

// How a passphrase becomes a key: N of 2^17 with r = 8 and p = 1, the least that
// OWASP's Password Storage Cheat Sheet allows, takes half a second and 128 MiB.
const (
	scryptN    = 1 << 17
	maxScryptN = 1 << 20 // 1 GiB; no file may ask for more
	scryptR    = 8
	scryptP    = 1
	saltSize   = 16
)

// minPassphrase is how short a new passphrase may be, in bytes.
const minPassphrase = 8

// passphraseTries is how often a person may mistype.
const passphraseTries = 3

// scryptParams is how scrypt (RFC 7914) makes the key of a passphrase.
type scryptParams struct {
	Salt []byte `json:"salt"`
	N    int    `json:"n"`
}

func (s *scryptParams) check() error {
	if len(s.Salt) != saltSize || s.N < scryptN || s.N > maxScryptN || s.N&(s.N-1) != 0 {
		return errors.New(`"scrypt" is not what this gateway writes`)
	}
	return nil
}

func (s *scryptParams) key(passphrase string) ([]byte, error) {
	return scrypt.Key([]byte(passphrase), s.Salt, s.N, scryptR, scryptP, keySize)
}

// An Asker asks the person for a secret, which is not shown while it is typed.
type PassphrasePrompt func(ctx context.Context, prompt string) (string, error)

// askExisting asks for the passphrase whose key the label names.
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

// askNew asks for a new passphrase and writes into the label how it becomes a key.
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
