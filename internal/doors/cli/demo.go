package cli

import "github.com/spf13/cobra"

func newDemo(r *run) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "See the gateway at work, with real apps in a session of their own",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return r.cfg.RunDemo(cmd.Context(), r.flags, r.cfg.Out)
		},
	}
}
