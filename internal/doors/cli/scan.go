package cli

import (
	"context"

	"github.com/spf13/cobra"
)

func newScan(r *run) *cobra.Command {
	return &cobra.Command{
		Use:   "scan",
		Short: "Check every aai.json of this computer and list its errors",
		Long: "Checks every aai.json of this computer and lists its errors.\n" +
			"The exit code is 2 if there is an error in any of them.",
		RunE: func(cmd *cobra.Command, _ []string) error { return r.scan(cmd.Context()) },
	}
}

// statusInvalid is the status of an invalid file, which defines no app.
const statusInvalid = "invalid"

func (r *run) scan(ctx context.Context) error {
	result, err := r.callBuiltin(ctx, "scan", nil)
	if err != nil {
		return err
	}
	s, err := r.readTable(ctx, "scan", result.Data)
	if err != nil {
		return err
	}
	err = r.output.show(result.Data, func() error {
		r.output.showAnswerTable(s, map[string]func(*jsonNode) string{"tools": notStarted}, remarks)
		if len(s.rows) == 0 {
			r.output.note("No aai.json was found.")
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, file := range s.rows {
		if errors := file.Member("errors"); memberText(file, "status") == statusInvalid || errors != nil && errors.First != nil {
			return &findingsError{exit: exitUsage}
		}
	}
	return nil
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
