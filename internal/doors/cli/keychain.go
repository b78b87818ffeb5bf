package cli

import (
	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway/internal/answer"
)

func newKeychain(r *run) *cobra.Command {
	isProblem := func(status answer.Keychain) bool { return status.Problem+status.ConsentsProblem != "" }
	return newGroup("keychain", "See where secrets are kept", r.newToolCommand(&cobra.Command{
		Use:   "status",
		Short: "Show where the key of secrets is, and why not in a safer place",
	}, toolCommand{tool: "keychain_status", show: withFindings(exitFailed, isProblem, inRows(showKeychain))}))
}

func showKeychain(r *run, s *answerTable, c *toolCall) {
	r.output.showAnswerTable(s, nil, nil)
	status, _ := decodeView[answer.Keychain](c.result.Data) // withFindings has decoded it
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
