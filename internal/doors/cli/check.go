package cli

import "github.com/spf13/cobra"

func newCheck(r *run) *cobra.Command {
	return r.newToolCommand(&cobra.Command{
		Use:   "check",
		Short: "Check whether windows can be seen and operated here, and describe your session",
		Long: "Reports whether windows can be read, which session bus and which screen were found and where, which\n" +
			"candidates were rejected and why, and the next step. The exit code is 1 where windows cannot be read or there is\n" +
			"no screen to operate them on.",
		Args: unknownCommandArgs,
	}, toolCommand{tool: "check", show: withFindings(exitFailed, checkView.isInoperable, nil)})
}

// A checkView holds the part of the check's result that decides the exit code.
type checkView struct {
	Enabled bool
	Session *struct{ Found map[string]any } // nil where the platform knows no sessions
}

// isInoperable reports that windows cannot be read or there is no screen to operate them on.
func (c checkView) isInoperable() bool {
	if !c.Enabled || c.Session == nil {
		return !c.Enabled
	}
	return c.Session.Found["DISPLAY"] == nil && c.Session.Found["WAYLAND_DISPLAY"] == nil
}
