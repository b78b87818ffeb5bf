package builtin

import (
	"context"
	"errors"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/secrets"
)

// keychainTool reports how secrets are stored.
type keychainTool struct {
	vault    *secrets.Vault
	unsealed func() string
}

// keychainStatus is the state of the vault and of the consents, which may be stored outside it.
type keychainStatus struct {
	secrets.Status
	// Unsealed is the reason why the consents are in a plain file, or "".
	Unsealed string `json:"consents_unsealed,omitempty"`
}

func (k keychainTool) status(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
	status, err := k.vault.Status(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = aai.Errorf(aai.Timeout, "the places where a key may be did not answer in time: %w", err)
	}
	if err != nil {
		return nil, err
	}
	return &aai.Result{Data: keychainStatus{status, k.whyUnsealed(status)}}, nil
}

// whyUnsealed returns the reason why the consents are in a plain file, or "".
func (k keychainTool) whyUnsealed(status secrets.Status) string {
	if k.unsealed == nil {
		return ""
	}
	why := k.unsealed()
	if why != "" && status.Problem != "" {
		return status.Problem
	}
	return why
}
