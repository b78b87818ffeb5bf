package own

import (
	"context"
	"errors"

	"aai"
	"aai/internal/keychain"
)

// keychainTool says how secrets are kept.
type keychainTool struct {
	vault    *keychain.Vault
	unsealed func() string
}

// keychainStatus is the state of the vault, and of the consents, which may have to
// do without it.
type keychainStatus struct {
	keychain.Status
	// Unsealed says why the consents are in a plain file; empty if they are not.
	Unsealed string `json:"consents_unsealed,omitempty"`
}

func (k keychainTool) status(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
	if k.vault == nil {
		return nil, aai.Errorf(aai.AutomationNotSupported, "this gateway keeps no secrets")
	}
	status, err := k.vault.Status(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = aai.Errorf(aai.Timeout, "the places where a key may be did not answer in time: %w", err)
	}
	if err != nil {
		return nil, err
	}
	return &aai.Result{Data: keychainStatus{status, whyUnsealed(k.unsealed)}}, nil
}

// whyUnsealed asks why the consents are in a plain file, where that can be.
func whyUnsealed(unsealed func() string) string {
	if unsealed == nil {
		return ""
	}
	return unsealed()
}
