package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

func newLint(r *run) *cobra.Command {
	var against string
	cmd := &cobra.Command{
		Use:   "lint <file|url> [--against file|url]",
		Short: "Check an aai.json, and suggest corrections to its author",
		Long: "Checks an aai.json, in a file or of a site, and lists errors, warnings\n" +
			"and suggestions. With --against it also checks whether the version number fits the\n" +
			"changes since an earlier one. The exit code is 2 if there is an error.",
		Example: "  aai-gateway lint ./aai.json\n" +
			"  aai-gateway lint ./aai.json --against https://example.com",
		Args:              operands(1, 1),
		ValidArgsFunction: completeFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return r.lint(cmd.Context(), args[0], against) },
	}
	cmd.Flags().StringVar(&against, "against", "", "an earlier version: a `file` or an address")
	return cmd
}

func (r *run) lint(ctx context.Context, source, against string) error {
	args := map[string]any{"source": source}
	if against != "" {
		args["against"] = against
	}
	result, err := r.callBuiltin(ctx, "lint", args)
	if err != nil {
		return err
	}
	report, err := decodeView[answer.LintReport](result.Data)
	if err != nil {
		return err
	}
	err = r.output.show(result.Data, func() error {
		r.showLint(source, report)
		return nil
	})
	if err != nil {
		return err
	}
	if report.HasSeverity(answer.SeverityError) {
		return &findingsError{exit: exitUsage}
	}
	return nil
}

// counted formats a number of things: "1 error", "2 errors".
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// showLint writes each finding on one line, in the form that editors parse, with the advice
// below it.
func (r *run) showLint(source string, report answer.LintReport) {
	found := make(map[answer.Severity]int)
	for _, f := range report.Findings {
		found[f.Severity]++
		place := ""
		if f.Path != "" {
			place = f.Path + ": "
		}
		line := fmt.Sprintf("%s:%d:%d: %s: %s%s (%s)", source, f.Line, f.Column, f.Severity, place, f.Problem, f.Rule)
		r.output.lines(aai.CleanLabel(line, maxLine))
		if f.Fix != "" {
			r.output.lines("    " + aai.CleanLabel(f.Fix, maxLine))
		}
	}
	if report.Omitted > 0 {
		r.output.say("and %d more errors", report.Omitted)
	}
	if c := report.Comparison; c != nil {
		for _, change := range c.Changes {
			r.output.lines(aai.CleanLabel(fmt.Sprintf("%s: %s %s", change.Bump, change.Path, change.Problem), maxLine))
		}
		r.output.say("%s to %s: %s is needed, %s was made.", c.Old, c.New, c.RequiredBump, c.ActualBump)
	}
	r.output.say("%s: %s, %s, %s.", source, counted(found[answer.SeverityError], "error"), counted(found[answer.SeverityWarning], "warning"), counted(found[answer.SeverityHint], "hint"))
	if report.App != "" {
		r.output.say("%s %s: %s, a guide of about %d tokens.", report.App, report.Version, counted(report.Tools, "tool"), report.GuideTokens)
	}
}
