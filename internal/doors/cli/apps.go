package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
)

func newApps(r *run) *cobra.Command {
	var flags []toolFlag
	if r.cfg.Desktop != nil {
		flags = append(flags, toolFlag{"running=", false, "the programs with windows, whether they declare tools or not"})
	}
	return r.newToolCommand(&cobra.Command{
		Use:   "apps",
		Short: "List the apps that have tools, or the programs that run",
	}, toolCommand{
		tool: "apps", flags: flags,
		prepare: func(c *toolCall) error {
			if r.cfg.Desktop != nil && (r.cfg.Name != program || c.isSet("running")) {
				c.app, c.tool = aai.DesktopApp, listApps
			}
			return nil
		},
		show: func(r *run, c *toolCall) error {
			if c.app == aai.DesktopApp {
				return showPrograms(r, c)
			}
			err := inRows(showApps)(r, c)
			if r.cfg.Desktop != nil {
				r.output.note("The programs that run: " + program + " apps --running")
			}
			return err
		},
	})
}

// showPrograms shows the programs with windows.
func showPrograms(r *run, c *toolCall) error {
	if c.result.Text == "" && r.output.format == formatText {
		r.output.note("No program with a window runs.")
		c.result = &aai.Result{Warning: c.result.Warning}
	}
	return showPicture(r, c)
}

func showApps(r *run, s *answerTable, _ *toolCall) {
	r.output.showAnswerTable(s, map[string]func(*jsonNode) string{"runnable": otherPlatform, "tools": notStarted}, nil)
	declared := func(app *jsonNode) bool { return memberText(app, "source") != "" }
	if !slices.ContainsFunc(s.rows, declared) {
		r.output.note("No app with tools was found. To see every place that was looked at: " + program + " scan. " +
			"To find what programs here offer: " + program + " discover")
	}
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
