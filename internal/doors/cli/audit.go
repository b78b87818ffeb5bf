package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway/internal/answer"
)

func newAudit(r *run) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Check the record of calls, or write it out",
		Args:  unknownCommandArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return usage(cmd, "expected verify or export") },
	}
	export := r.newToolCommand(&cobra.Command{
		Use:   "export",
		Short: "Write the record of calls as JSON Lines, with the verification of each line",
		Long: "Writes the record of calls as JSON Lines: {\"verified\", \"file\", \"record\"} for each line, and\n" +
			"{\"verification\"} at the end. The exit code is 1 if the record is not as it was written.",
	}, toolCommand{
		tool: "audit_export", show: withFindings(exitFailed, isFaulty, showExport),
		flags: append(callFlags(), toolFlag{"output=file", "", "write a new `file`; needed for an export over 16 MB"}),
		prepare: func(c *toolCall) (err error) {
			if err = setInstants(c); err != nil {
				return err
			}
			if file, given := c.args["file"].(string); given {
				if c.args["file"], err = filepath.Abs(file); err != nil {
					return usage(c.cmd, "--output %q: %v", file, err)
				}
			}
			return nil
		},
	})
	completeResult(export)
	cmd.AddCommand(export, r.newToolCommand(&cobra.Command{
		Use:   "verify",
		Short: "Check that the record of calls is as it was written",
		Long: "Checks that the record of calls is as it was written.\n" +
			"The exit code is 1 if a record was changed, removed or inserted, if records are missing,\n" +
			"or if the state of the chain was missing (unproven), so that records may be missing.",
	}, toolCommand{tool: "audit_verify", show: withFindings(exitFailed, isFaulty, showVerification)}))
	return cmd
}

// isFaulty reports whether the audit found a fault.
func isFaulty(v answer.Verification) bool { return v.Verdict != answer.Intact }

func showVerification(r *run, c *toolCall) error {
	r.output.warnAnyway(c.result.Warning)
	return decoded(func(r *run, found answer.Verification, c *toolCall) {
		r.output.lines(c.result.Text)
		for _, f := range found.Faults[min(1, len(found.Faults)):] { // the text contains the first
			r.output.lines(fmt.Sprintf("%s at record %d, %s: %s", f.Verdict, f.Record, f.File, f.Reason))
		}
		for _, name := range found.Unchained {
			r.output.note(name + " is not part of the chain: its content cannot be checked.")
		}
	})(r, c)
}

func showExport(r *run, c *toolCall) error {
	if r.output.format != formatQuiet {
		r.output.lines(c.result.Text) // JSON Lines are JSON in every format
	}
	return nil
}
