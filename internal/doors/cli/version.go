package cli

import "github.com/spf13/cobra"

func newVersion(r *run) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		RunE:  func(*cobra.Command, []string) error { return r.showVersion() },
	}
}

func (r *run) showVersion() error {
	return r.output.show(map[string]string{"version": r.cfg.Version}, func() error {
		r.output.say("%s %s", program, r.cfg.Version)
		return nil
	})
}
