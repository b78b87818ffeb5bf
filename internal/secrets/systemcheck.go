package secrets

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/zalando/go-keyring"
)

// trialAccount is where Try puts what it tries the keychain with.
const trialAccount = "trial"

// CheckSystemKeychain puts something into the keychain of the operating system, beside the master key,
// reads it back, and takes it away. It says why that cannot be done. Getenv finds the
// session bus.
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
