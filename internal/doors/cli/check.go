package cli

import (
	"github.com/spf13/cobra"
)

func newCheck(r *run) *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Say whether windows can be seen and operated here, and what was found of your session",
		Long: "Says whether windows can be read, which session bus and which screen were found, and where, what\n" +
			"was not taken and why, and what to do next. The exit code is 1 where windows cannot be read.",
		Args:              noOperands,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			result, err := r.own(cmd.Context(), "check", nil)
			if err != nil {
				return err
			}
			if err := r.showResult(result); err != nil {
				return err
			}
			found, err := view[struct{ Enabled bool }](result.Data)
			if err == nil && !found.Enabled {
				err = &finding{exit: exitFailed}
			}
			return err
		},
	}
}
