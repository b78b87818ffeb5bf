package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

func newApps(r *run) *cobra.Command {
	return &cobra.Command{
		Use:               "apps",
		Short:             "List the apps that have tools",
		Args:              operands(0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return r.apps(cmd.Context()) },
	}
}

// appView is what is shown of an app.
type appView struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Aliases     []string `json:"aliases"`
	Tools       int      `json:"tools"`
	Platform    string   `json:"platform"`
	Runnable    bool     `json:"runnable"`
	Source      string   `json:"source"`
}

func (r *run) apps(ctx context.Context) error {
	result, err := r.own(ctx, "apps", nil)
	if err != nil {
		return err
	}
	return r.output.show(result.Data, func() error {
		apps, err := view[[]appView](result.Data)
		if err != nil {
			return err
		}
		rows := make([][]string, 0, len(apps))
		for _, app := range apps {
			runs := "yes"
			if !app.Runnable {
				runs = "no: " + app.Platform
			}
			rows = append(rows, []string{
				app.ID, app.Name, strconv.Itoa(app.Tools), runs, app.Description, strings.Join(app.Aliases, ", "),
			})
		}
		r.output.table([]string{"APP", "NAME", "TOOLS", "RUNS", "DESCRIPTION", "ALIASES"}, rows)
		if len(apps) == 0 {
			r.output.note("No app with tools was found. To see every place that was looked at: " + program + " scan")
		}
		return nil
	})
}
