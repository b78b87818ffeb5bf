package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

func newLint(r *run) *cobra.Command {
	return r.newToolCommand(&cobra.Command{
		Use:   "lint <file|url> [--against file|url]",
		Short: "Check an aai.json, and suggest corrections to its author",
		Long: "Checks an aai.json, in a file or of a site, and lists errors, warnings\n" +
			"and suggestions. With --against it also checks whether the version number fits the\n" +
			"changes since an earlier one. The exit code is 2 if there is an error.",
		Example: "  aai-gateway lint ./aai.json\n" +
			"  aai-gateway lint ./aai.json --against https://example.com",
		ValidArgsFunction: completeFiles,
	}, toolCommand{
		tool: "lint", operands: "source", flags: []toolFlag{{"against", "", "an earlier version: a `file` or an address"}},
		show: withFindings(exitUsage, func(report answer.LintReport) bool { return report.HasSeverity(answer.SeverityError) }, decoded(showLint)),
	})
}

// showLint writes each finding on one line, in the form that editors parse, with the advice
// below it.
func showLint(r *run, report answer.LintReport, c *toolCall) {
	source := c.args["source"]
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
	r.output.say("%s: %s, %s, %s.", source, aai.Count(found[answer.SeverityError], "error"), aai.Count(found[answer.SeverityWarning], "warning"), aai.Count(found[answer.SeverityHint], "hint"))
	if report.App != "" {
		r.output.say("%s %s: %s, a guide of about %d tokens.", report.App, report.Version, aai.Count(report.Tools, "tool"), report.GuideTokens)
	}
}

func newScan(r *run) *cobra.Command {
	return r.newToolCommand(&cobra.Command{
		Use:   "scan",
		Short: "Check every aai.json of this computer and list its errors",
		Long: "Checks every aai.json of this computer and lists its errors.\n" +
			"The exit code is 2 if there is an error in any of them.",
	}, toolCommand{tool: "scan", show: withFindings(exitUsage, scanReport.hasErrors, inRows(func(r *run, s *answerTable, _ *toolCall) {
		r.output.showAnswerTable(s, map[string]func(*jsonNode) string{"tools": notStarted}, remarks)
		if len(s.rows) == 0 {
			r.output.note("No aai.json was found.")
		}
	}))})
}

// A scanReport holds the part of the scan's result that decides the exit code.
type scanReport struct {
	Files []struct {
		Status string
		Errors []any
	}
}

// hasErrors reports whether a file defines no app, or has another error.
func (s scanReport) hasErrors() bool {
	for _, file := range s.Files {
		if file.Status == "invalid" || len(file.Errors) > 0 {
			return true
		}
	}
	return false
}

// remarks returns the lines below a file in the table.
func remarks(file *jsonNode) []string {
	var lines []string
	add := func(kind, member string) {
		for fault := range file.Member(member).Items() {
			line := memberText(fault, "problem")
			if path := memberText(fault, "path"); path != "" {
				line = path + ": " + line
			}
			lines = append(lines, kind+": "+line)
		}
	}
	add("error", "errors")
	if omitted := memberText(file, "errors_omitted"); omitted != "" {
		lines = append(lines, "error: and "+omitted+" more")
	}
	add("warning", "warnings")
	if by := memberText(file, "shadowed_by"); by != "" {
		lines = append(lines, "shadowed by "+by)
	}
	return lines
}
