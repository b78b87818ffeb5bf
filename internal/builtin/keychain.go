package builtin

import (
	"cmp"
	"context"
	"errors"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
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

func (k keychainTool) status(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
	status, err := k.vault.Status(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = aai.Errorf(aai.Timeout, "the places where a key may be did not answer in time: %w", err)
	}
	if err != nil {
		return nil, err
	}
	status.Unsealed = k.whyUnsealed(status)
	k.setConsents(ctx, &status)
	return &aai.Result{Data: status}, nil
}

// setConsents reads the stored decisions of the person as a call does, and sets the reason if they cannot be
// read or saved.
func (k keychainTool) setConsents(ctx context.Context, shown *answer.Keychain) {
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
func (k keychainTool) whyUnsealed(status answer.Keychain) string {
	if k.unsealed == nil {
		return ""
	}
	why := k.unsealed()
	if why != "" && status.Problem != "" {
		return status.Problem
	}
	return why
}
