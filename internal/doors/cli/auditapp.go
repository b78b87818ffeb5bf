package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
)

// The values of --format that only checks of windows have.
const (
	formatSARIF = "sarif"
	formatJUnit = "junit"
)

// An auditView holds the part of an accessibility audit that reports show.
type auditView struct {
	Passed  bool
	Summary string
	Issues  []issueView
}

type issueView struct {
	Severity, Rule, Criterion, Element, Path, Description, Suggestion string
	Ref                                                               string `json:"element_ref"`
}

// A diffView holds the part of a comparison that reports show.
type diffView struct {
	Passed, Updated bool
}

// newWindowChecks returns the commands that check windows, for tests that run without a person.
func newWindowChecks(r *run) []*cobra.Command {
	if r.cfg.Desktop == nil {
		return nil
	}
	var commands []*cobra.Command
	if tool := r.cfg.Desktop.Tool("ax_a11y_audit"); tool != nil {
		commands = append(commands, newAuditApp(r, tool))
	}
	if tool := r.cfg.Desktop.Tool("ax_visual_diff"); tool != nil {
		commands = append(commands, newVisualDiff(r, tool))
	}
	return commands
}

func newAuditApp(r *run, tool *aai.Tool) *cobra.Command {
	cmd := r.newWindowCheck(&cobra.Command{
		Use:   "audit-app [app]",
		Short: "Check the accessibility of a window, or of the page of a browser",
		Long: "Checks the front window of a program against rules of WCAG 2.2: names, labels, contrast, target size, focus.\n" +
			"The exit code is 1 if an issue is critical or serious.",
		Example: "  aai-gateway audit-app calculator --standards AA --format sarif --output audit.sarif\n  aai-gateway audit-app calculator --keyboard",
	}, tool, toolCommand{operands: "[app]", prepare: completeAudit, show: withFindings(exitFailed, func(a auditView) bool { return !a.Passed }, showAudit)}, formatSARIF)
	cmd.Flags().Bool("keyboard", false, "also walk through the window by tab and shift+tab; this needs the permission to act")
	return cmd
}

func newVisualDiff(r *run, tool *aai.Tool) *cobra.Command {
	return r.newWindowCheck(&cobra.Command{
		Use:   "visual-diff [app] <baseline>",
		Short: "Compare a window with the picture that was kept under a name",
		Long: "Compares a window with the picture that --update kept under the name. If the folder of the command has .aai/baselines,\n" +
			"the pictures are files in it, to be committed.\n" +
			"The exit code is 1 if they differ by more than the threshold.",
		Example: "  aai-gateway visual-diff calculator start --update\n  aai-gateway visual-diff calculator start --format junit --output diff.xml",
	}, tool, toolCommand{operands: "[app] baseline", show: withFindings(exitFailed, func(d diffView) bool { return !d.Passed }, showDiff)})
}

// newWindowCheck completes a command that checks a window. Its report may go to a file, and has more formats.
func (r *run) newWindowCheck(cmd *cobra.Command, tool *aai.Tool, t toolCommand, formats ...string) *cobra.Command {
	t.app, t.tool = r.cfg.Desktop.ID, tool.Name
	for _, f := range flagsOf(tool) {
		if f.parameter != "baseline" && !slices.Equal(f.types, []string{"array"}) {
			t.flags = append(t.flags, toolFlag{strings.ReplaceAll(f.parameter, "_", "-"), f, f.about})
		}
	}
	own := map[string][2]string{
		"standards": {"standards", "check this `standard`: A, AA, AAA or 508; may be repeated (default AA)"},
		"ignore":    {"ignore", "do not compare the elements of this `query`; may be repeated"},
	}
	for name, flag := range own {
		if strings.Contains(string(tool.Params.Source), `"`+name+`"`) {
			t.flags = append(t.flags, toolFlag{flag[0], []string{}, flag[1]})
		}
	}
	prepare := t.prepare
	t.prepare = func(c *toolCall) error {
		if err := r.useOnlyApp(c); err != nil || prepare == nil {
			return err
		}
		return prepare(c)
	}
	show := t.show
	t.show = func(r *run, c *toolCall) error { return r.inFile(c, show) }
	formats = append([]string{formatText, formatJSON, formatQuiet, formatJUnit}, formats...)
	r.newToolCommand(cmd, t)
	format := &enumFlag{value: &r.output.format, allowed: formats}
	cmd.Flags().Var(format, "format", strings.Join(formats, ", "))
	complete(cmd, "format", formats...)
	cmd.Flags().StringP("output", "o", "", "write the report to this `file`")
	cmd.Flags().String("picture", "", "write the picture that shows the findings to this `file`, as PNG")
	return cmd
}

// completeAudit replaces the names of levels by the tool's, such as AA by wcag_aa, and chooses the tool.
func completeAudit(c *toolCall) error {
	if c.isSet("keyboard") {
		c.tool = "ax_a11y_keyboard"
	}
	given, _ := c.args["standards"].([]any)
	for i, one := range given {
		name := strings.ToLower(fmt.Sprint(one))
		switch name {
		case "a", "aa", "aaa":
			name = "wcag_" + name
		case "508":
			name = "section508"
		}
		given[i] = name
	}
	return nil
}

// inFile shows the result by show, in the file of --output if one is given. It writes the picture of the result to the
// file of --picture.
func (r *run) inFile(c *toolCall, show showFunc) error {
	text := func(flag string) string { return c.cmd.Flags().Lookup(flag).Value.String() }
	if file := text("picture"); file != "" && len(c.result.Images) > 0 {
		if err := os.WriteFile(file, c.result.Images[0].Data, 0o600); err != nil {
			return fmt.Errorf("the picture cannot be written: %w", err)
		}
	}
	c.result.Images = nil
	file := text("output")
	if file == "" {
		return show(r, c)
	}
	var report bytes.Buffer
	before := *r.output
	r.output.out, r.output.terminal.Out = &report, false
	found := show(r, c)
	failure := r.output.failure
	*r.output = before
	if err := cmp.Or(failure, os.WriteFile(file, report.Bytes(), 0o600)); err != nil {
		return fmt.Errorf("the report cannot be written: %w", err)
	}
	if r.output.format != formatQuiet {
		summary, _, _ := strings.Cut(c.result.Text, "\n")
		r.output.lines(summary)
	}
	return found
}

// showAudit shows an audit in the format of the command.
func showAudit(r *run, c *toolCall) error {
	audit, err := decodeView[auditView](c.result.Data)
	if err != nil {
		return err
	}
	r.warnOfReport(c)
	app := fmt.Sprint(c.args["app"])
	switch r.output.format {
	case formatSARIF:
		return r.output.json(newSARIF(r.cfg.Version, app, audit.Issues))
	case formatJUnit:
		var cases []testCase
		for _, i := range audit.Issues {
			cases = append(cases, newTestCase(i.Rule, i.Path, i.Description, i.Criterion+"\n"+i.Suggestion))
		}
		if len(cases) == 0 {
			cases = []testCase{{Class: app, Name: "accessibility"}}
		}
		return r.output.junit("audit-app "+app, cases)
	case formatText:
		for _, i := range audit.Issues {
			r.output.lines(fmt.Sprintf("%s %s: %s [%s]: %s\n  %s", i.Severity, i.Rule, i.Path, i.Ref, i.Description, strings.TrimSpace(i.Suggestion+" "+i.Criterion)))
		}
		c.result.Text = audit.Summary
	}
	return r.showResult(c.result)
}

// showDiff shows a comparison in the format of the command.
func showDiff(r *run, c *toolCall) error {
	diff, err := decodeView[diffView](c.result.Data)
	if err != nil || r.output.format != formatJUnit {
		return cmp.Or(err, r.showResult(c.result))
	}
	r.warnOfReport(c)
	one := testCase{Class: fmt.Sprint(c.args["app"]), Name: fmt.Sprint(c.args["baseline"])}
	if !diff.Passed {
		one = newTestCase(one.Class, one.Name, "the window differs from the baseline", c.result.Text)
	}
	return r.output.junit("visual-diff "+one.Class, []testCase{one})
}

// warnOfReport shows the warning of a result whose report has no place for it.
func (r *run) warnOfReport(c *toolCall) {
	if r.output.format == formatSARIF || r.output.format == formatJUnit {
		r.output.warnAnyway(c.result.Warning)
	}
}
