package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
)

func newScan(r *run) *cobra.Command {
	return &cobra.Command{
		Use:   "scan",
		Short: "Look at every aai.json of this computer and say what is wrong with it",
		Long: "Looks at every aai.json of this computer and says what is wrong with it.\n" +
			"The exit code is 2 if there is an error in any of them.",
		Args:              operands(0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return r.scan(cmd.Context()) },
	}
}

// statusInvalid is the status of a file that gives no app because it is wrong.
const statusInvalid = "invalid"

// scanView is what is shown of a scan.
type scanView struct {
	Files []fileView `json:"files"`
}

type fileView struct {
	Path       string      `json:"path"`
	Place      string      `json:"place"`
	App        string      `json:"app"`
	Tools      int         `json:"tools"`
	Status     string      `json:"status"`
	Errors     []faultView `json:"errors"`
	Omitted    int         `json:"errors_omitted"`
	Warnings   []faultView `json:"warnings"`
	ShadowedBy string      `json:"shadowed_by"`
}

// faultView is one thing wrong with a file: where in it, and what.
type faultView struct {
	Path    string `json:"path"`
	Problem string `json:"problem"`
}

func (f faultView) String() string {
	if f.Path == "" {
		return f.Problem
	}
	return f.Path + ": " + f.Problem
}

func (r *run) scan(ctx context.Context) error {
	result, err := r.own(ctx, "scan", nil)
	if err != nil {
		return err
	}
	scan, err := view[scanView](result.Data)
	if err != nil {
		return err
	}
	err = r.output.show(result.Data, func() error {
		r.showScan(scan)
		return nil
	})
	if err != nil {
		return err
	}
	for _, file := range scan.Files {
		if file.Status == statusInvalid || len(file.Errors) > 0 {
			return &finding{exit: exitUsage}
		}
	}
	return nil
}

// showScan writes the table of files, with what is wrong with a file below it.
func (r *run) showScan(scan scanView) {
	rows := make([][]string, 0, len(scan.Files))
	below := make(map[int][]string)
	for i, file := range scan.Files {
		rows = append(rows, []string{file.Status, file.App, strconv.Itoa(file.Tools), file.Path, file.Place})
		below[i] = remarks(file)
	}
	r.output.tableWith([]string{"STATUS", "APP", "TOOLS", "FILE", "PLACE"}, rows, below)
	if len(scan.Files) == 0 {
		r.output.note("No aai.json was found.")
	}
}

// remarks are the lines below a file in the table.
func remarks(file fileView) []string {
	var lines []string
	for _, fault := range file.Errors {
		lines = append(lines, "error: "+fault.String())
	}
	if file.Omitted > 0 {
		lines = append(lines, fmt.Sprintf("error: and %d more", file.Omitted))
	}
	for _, fault := range file.Warnings {
		lines = append(lines, "warning: "+fault.String())
	}
	if file.ShadowedBy != "" {
		lines = append(lines, "shadowed by "+file.ShadowedBy)
	}
	return lines
}
