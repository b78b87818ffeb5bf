package cli

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"aai"
)

func newApps(r *run) *cobra.Command {
	var running bool
	cmd := &cobra.Command{
		Use:               "apps",
		Short:             "List the apps that have tools, or the programs that run",
		Args:              operands(0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if running {
				return r.exec(cmd, aai.DesktopApp, "ax_list_apps", nil, nil)
			}
			return r.apps(cmd.Context())
		},
	}
	if r.cfg.Desktop != nil {
		cmd.Flags().BoolVar(&running, "running", false, "the programs with windows, whether they declare tools or not")
	}
	return cmd
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
		declared := func(app appView) bool { return app.Source != "" }
		if !slices.ContainsFunc(apps, declared) {
			r.output.note("No app with tools was found. To see every place that was looked at: " + program + " scan")
		}
		return nil
	})
}
