package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// modes lists the modes, from the freest to the strictest.
func modes() []string { return []string{"normal", "safe", "sandboxed"} }

func newMode(r *run) *cobra.Command {
	return r.newToolCommand(&cobra.Command{
		Use:   "mode [normal|safe|sandboxed]",
		Short: "Show or set the security mode, the limit for all agents",
		Long: "Shows the security mode, which limits all agents, or sets it for every running gateway:\n" +
			"normal follows the consents; safe runs no scripts and asks before each call that may destroy something;\n" +
			"sandboxed only reads. The configuration's server.security_mode applies where it is stricter.",
		ValidArgsFunction: cobra.FixedCompletions(modes(), cobra.ShellCompDirectiveNoFileComp),
	}, toolCommand{
		tool: "mode_set", operands: "[mode]",
		flags: []toolFlag{{"yes=", false, "has no effect: a less strict mode needs your answer in a window or your passphrase"}},
		prepare: func(c *toolCall) error {
			mode, given := c.args["mode"].(string)
			switch {
			case !given:
				c.tool = "mode"
			case !slices.Contains(modes(), mode):
				return &usageError{
					message:    "there is no mode " + aai.CleanLabel(mode, 60),
					candidates: aai.Nearest(mode, modes(), 1), usage: c.cmd.UseLine(),
				}
			}
			return nil
		},
		show: decoded(func(r *run, shown answer.Mode, c *toolCall) {
			r.output.raw(shown.Mode + "\n")
			if c.result.Warning != "" {
				r.output.note("Warning: " + c.result.Warning)
			}
		}),
	})
}
