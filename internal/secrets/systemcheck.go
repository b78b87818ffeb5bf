package secrets

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/zalando/go-keyring"
)

// trialAccount is the account of the item that CheckSystemKeychain stores.
const trialAccount = "trial"

// CheckSystemKeychain stores an item in the keychain of the operating system, beside the
// master key, reads it back, and deletes it. It returns an error if that fails. getenv
// finds the session bus.
func CheckSystemKeychain(ctx context.Context, getenv func(string) string) error {
	s := newSystem(getenv)
	put := rand.Text()
	kept, err := s.ask(ctx, func() (string, error) {
		if err := s.set(service, trialAccount, put); err != nil {
			return "", err
		}
		got, err := s.get(service, trialAccount)
		return got, errors.Join(err, keyring.Delete(service, trialAccount))
	})
	if err == nil && kept != put {
		err = errors.New("it gives back something else than it was given")
	}
	return err
}
