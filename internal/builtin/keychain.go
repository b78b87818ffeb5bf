package builtin

import (
	"cmp"
	"context"
	"errors"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/policy/reauth"
	"github.com/gybob/aai-gateway/internal/secrets"
)

// keychainTool reports how secrets are stored.
type keychainTool struct {
	vault      *secrets.Vault
	unsealed   func() string
	store      policy.Store
	storeFault func() error
	passphrase *reauth.Passphrase
}

// keychainStatus is the state of the vault and of the consents, which may be stored outside it.
type keychainStatus struct {
	secrets.Status
	// Unsealed is the reason why the consents are in a plain file, or "".
	Unsealed string `json:"consents_unsealed,omitempty"`
	// ConsentsProblem is the reason why the consents or the passphrase cannot be read, or "". ConsentsUnsaved is the
	// reason why no consent can be saved, or "". ConsentsHint is the remedy for either.
	ConsentsProblem string `json:"consents_problem,omitempty"`
	ConsentsUnsaved string `json:"consents_unsaved,omitempty"`
	ConsentsHint    string `json:"consents_hint,omitempty"`
}

func (k keychainTool) status(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
	status, err := k.vault.Status(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = aai.Errorf(aai.Timeout, "the places where a key may be did not answer in time: %w", err)
	}
	if err != nil {
		return nil, err
	}
	shown := keychainStatus{Status: status, Unsealed: k.whyUnsealed(status)}
	k.setConsents(ctx, &shown)
	return &aai.Result{Data: shown}, nil
}

// setConsents reads the stored decisions of the person as a call does, and sets the reason if they cannot be
// read or saved.
func (k keychainTool) setConsents(ctx context.Context, shown *keychainStatus) {
	const unreadable, damaged = "the consents cannot be read, so calls that need one fail: ", "Bring the file back from a copy. Or move it away, and make the decisions in it again."
	_, err := k.store.Grants()
	if err != nil {
		shown.ConsentsProblem = unreadable
	} else if k.passphrase != nil {
		err = k.passphrase.CheckReadable(ctx)
	}
	if err != nil {
		e := aai.AsError(err)
		shown.ConsentsProblem += e.Message
		shown.ConsentsHint = cmp.Or(e.Hint, damaged)
		return
	}
	if k.storeFault != nil {
		if e := aai.AsError(k.storeFault()); e != nil {
			shown.ConsentsUnsaved, shown.ConsentsHint = e.Message, e.Hint
		}
	}
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
