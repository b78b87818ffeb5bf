package cli

import (
	"context"
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
	cmd.AddCommand(newAuditVerify(r), newAuditExport(r))
	return cmd
}

func newAuditVerify(r *run) *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Check that the record of calls is as it was written",
		Long: "Checks that the record of calls is as it was written.\n" +
			"The exit code is 1 if a record was changed, removed or inserted, if records are missing,\n" +
			"or if the state of the chain was missing (unproven), so that records may be missing.",
		RunE: func(cmd *cobra.Command, _ []string) error { return r.auditVerify(cmd.Context()) },
	}
}

func (r *run) auditVerify(ctx context.Context) error {
	result, err := r.callBuiltin(ctx, "audit_verify", nil)
	if err != nil {
		return err
	}
	r.output.warnAnyway(result.Warning)
	found, err := decodeView[answer.Verification](result.Data)
	if err != nil {
		return err
	}
	err = r.output.show(result.Data, func() error {
		r.output.lines(result.Text)
		for _, f := range found.Faults[min(1, len(found.Faults)):] { // the text contains the first
			r.output.lines(fmt.Sprintf("%s at record %d, %s: %s", f.Verdict, f.Record, f.File, f.Reason))
		}
		for _, name := range found.Unchained {
			r.output.note(name + " is not part of the chain: its content cannot be checked.")
		}
		return nil
	})
	return r.findingsExit(found, err)
}

// findingsExit returns an error with exit code 1 if the audit found a fault.
func (r *run) findingsExit(v answer.Verification, err error) error {
	if err == nil && v.Verdict != answer.Intact {
		return &findingsError{exit: exitFailed}
	}
	return err
}

func newAuditExport(r *run) *cobra.Command {
	var calls callFlags
	var file string
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the record of calls as JSON Lines, with the verification of each line",
		Long: "Writes the record of calls as JSON Lines: {\"verified\", \"file\", \"record\"} for each line, and\n" +
			"{\"verification\"} at the end. The exit code is 1 if the record is not as it was written.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			args, err := calls.args()
			if err != nil {
				return usage(cmd, "%v", err)
			}
			if file != "" {
				if args["file"], err = filepath.Abs(file); err != nil {
					return usage(cmd, "--output %q: %v", file, err)
				}
			}
			return r.auditExport(cmd.Context(), args)
		},
	}
	calls.add(r, cmd)
	cmd.Flags().StringVar(&file, "output", "", "write a new `file`; needed for an export over 16 MB")
	return cmd
}

func (r *run) auditExport(ctx context.Context, args map[string]any) error {
	result, err := r.callBuiltin(ctx, "audit_export", args)
	if err != nil {
		return err
	}
	found, err := decodeView[answer.Verification](result.Data)
	if err != nil {
		return err
	}
	if r.output.format != formatQuiet {
		r.output.lines(result.Text) // JSON Lines are JSON in every format
	}
	return r.findingsExit(found, nil)
}
