package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// modes lists the modes, from the freest to the strictest.
func modes() []string { return []string{"normal", "safe", "sandboxed"} }

func newMode(r *run) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "mode [normal|safe|sandboxed]",
		Short: "Show or set the security mode, the limit for all agents",
		Long: "Shows the security mode, which limits all agents, or sets it for every running gateway:\n" +
			"normal follows the consents; safe runs no scripts and asks before each call that may destroy something;\n" +
			"sandboxed only reads. The configuration's server.security_mode applies where it is stricter.",
		Args:              operands(0, 1),
		ValidArgsFunction: cobra.FixedCompletions(modes(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return r.showMode(cmd.Context(), "mode", nil)
			}
			if !slices.Contains(modes(), args[0]) {
				return &usageError{message: "there is no mode " + aai.CleanLabel(args[0], 60), candidates: aai.Nearest(args[0], modes(), 1), usage: cmd.UseLine()}
			}
			return r.showMode(cmd.Context(), "mode_set", map[string]any{"mode": args[0]})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "has no effect: a less strict mode needs your answer in a window or your passphrase")
	return cmd
}

func (r *run) showMode(ctx context.Context, tool string, args map[string]any) error {
	return showDecoded(ctx, r, tool, args, func(shown answer.Mode, result *aai.Result) error {
		r.output.raw(shown.Mode + "\n")
		if result.Warning != "" {
			r.output.note("Warning: " + result.Warning)
		}
		return nil
	})
}
