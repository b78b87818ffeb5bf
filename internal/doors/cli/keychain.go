package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway/internal/answer"
)

func newKeychain(r *run) *cobra.Command {
	return newGroup("keychain", "See where secrets are kept", &cobra.Command{
		Use:   "status",
		Short: "Show where the key of secrets is, and why not in a safer place",
		RunE:  func(cmd *cobra.Command, _ []string) error { return r.keychainStatus(cmd.Context()) },
	})
}

// keychainStatus shows the state, and returns exit code 1 if no secret can be stored, or if the
// consents cannot be read.
func (r *run) keychainStatus(ctx context.Context) error {
	result, err := r.callBuiltin(ctx, "keychain_status", nil)
	if err != nil {
		return err
	}
	status, err := decodeView[answer.Keychain](result.Data)
	if err != nil {
		return err
	}
	err = r.output.show(result.Data, func() error {
		s, err := r.readTable(ctx, "keychain_status", result.Data)
		if err != nil {
			return err
		}
		r.output.showAnswerTable(s, nil, nil)
		r.showKeychain(status)
		return nil
	})
	if err == nil && status.Problem+status.ConsentsProblem != "" {
		err = &findingsError{exit: exitFailed}
	}
	return err
}

func (r *run) showKeychain(status answer.Keychain) {
	if status.Exists {
		r.output.note("Secrets sealed by key " + status.Key + " in " + status.Folder + ".")
	} else if status.Problem == "" {
		r.output.note("No secret was kept yet.")
	}
	if status.Problem != "" {
		r.output.note("problem: " + status.Problem)
	}
	if status.Hint != "" {
		r.output.note(status.Hint)
	}
	if status.ConsentsProblem != "" {
		r.output.note("problem: " + status.ConsentsProblem)
		r.output.note(status.ConsentsHint)
	}
	if status.ConsentsUnsaved != "" {
		r.output.warn("consents cannot be saved: " + status.ConsentsUnsaved)
		r.output.note(status.ConsentsHint)
	}
	if status.Warning != "" {
		r.output.warn(status.Warning)
	}
	if status.Unsealed != "" {
		r.output.note("The consents are in a plain file: " + status.Unsealed)
	}
}
