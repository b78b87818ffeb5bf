package cli

import (
	"context"

	"github.com/spf13/cobra"
)

func newDiscover(r *run) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "discover [address]",
		Short: "Find the app of a web site, or look through this computer",
		Long: "Asks the site at the address, such as https://example.com or example.com, for its\n" +
			"aai.json, and shows what its app can do and how to call it. Without an address it\n" +
			"looks through this computer, as the command scan.",
		Args:              operands(0, 1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && cmd.Flags().Changed("name") {
				return usage(cmd, "--name needs the address of the site that is to have the name")
			}
			return r.discover(cmd.Context(), args, name)
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "from now on call the site by this `name`, such as jira")
	return cmd
}

// discover looks for the app at the address, if one is given, and gives its site
// the name, if it is to have one.
func (r *run) discover(ctx context.Context, address []string, name string) error {
	if len(address) == 0 {
		return r.scan(ctx)
	}
	result, err := r.own(ctx, "discover", map[string]any{"url": address[0]})
	if err != nil {
		return err
	}
	if name != "" {
		if _, err := r.own(ctx, "discover_name", map[string]any{"name": name, "url": address[0]}); err != nil {
			return err
		}
	}
	return r.output.show(guideData(result), func() error {
		r.output.lines(result.Text)
		return nil
	})
}
