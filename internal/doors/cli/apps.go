package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
)

func newApps(r *run) *cobra.Command {
	var running bool
	cmd := &cobra.Command{
		Use:   "apps",
		Short: "List the apps that have tools, or the programs that run",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if running {
				return r.programs(cmd.Context())
			}
			return r.apps(cmd.Context())
		},
	}
	if r.cfg.Desktop != nil {
		cmd.Flags().BoolVar(&running, "running", false, "the programs with windows, whether they declare tools or not")
	}
	return cmd
}

// programs shows the programs with windows.
func (r *run) programs(ctx context.Context) error {
	result, err := r.do(ctx, aai.DesktopApp, "ax_list_apps", nil)
	if err != nil {
		return err
	}
	if result.Text == "" && r.output.format == formatText {
		r.output.note("No program with a window runs.")
		result = &aai.Result{Warning: result.Warning}
	}
	return r.showResult(result)
}

func (r *run) apps(ctx context.Context) error {
	return r.showRows(ctx, "apps", nil, func(s *answerTable, _ *aai.Result) error {
		r.output.showAnswerTable(s, map[string]func(*jsonNode) string{"runnable": otherPlatform, "tools": notStarted}, nil)
		declared := func(app *jsonNode) bool { return memberText(app, "source") != "" }
		if !slices.ContainsFunc(s.rows, declared) {
			r.output.note("No app with tools was found. To see every place that was looked at: " + program + " scan")
		}
		return nil
	})
}

// notStarted returns the text that replaces the number of tools while an app's server has
// not started yet.
func notStarted(app *jsonNode) string {
	if isTrue(app, "not_started") {
		return "not started yet"
	}
	return ""
}

// otherPlatform names the platform of an app that cannot run here; it returns "" for other apps.
func otherPlatform(app *jsonNode) string {
	if isTrue(app, "runnable") {
		return ""
	}
	return "no: " + memberText(app, "platform")
}
