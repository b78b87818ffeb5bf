package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
)

// WebOptions determine how the dashboard is opened. Empty fields mean the configured value.
type WebOptions struct {
	Changes []Change // of settings, for this run
	Open    bool     // in the desktop's browser
	// Ask puts questions to the person at this terminal. It returns no answers where a
	// question may not be asked there or there is no terminal.
	Ask func(ctx context.Context, questions []aai.Question) (map[string]aai.Answer, error)
	// Print writes a line for the person, such as the dashboard's address.
	Print func(line string)
}

func newWeb(r *run) *cobra.Command {
	var o WebOptions
	cmd := &cobra.Command{
		Use:   "web",
		Short: "Open the page with running calls, past calls and consents",
		Long: "Serves a page to a browser of this computer, until you press ^C, and prints the link that lets one\n" +
			"browser in, once. A change of what agents may do needs your answer in a window, or at this terminal.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if port := cmd.Flags().Lookup("port"); port.Changed {
				o.Changes = []Change{{Key: "httpPort", Value: flagValue(port), Flag: "--port"}}
			}
			o.Ask, o.Print = r.ask, func(line string) { r.output.say("%s", line) }
			return r.cfg.ServeWeb(cmd.Context(), r.flags, o)
		},
	}
	cmd.Flags().BoolVar(&o.Open, "open", false, "open the link in the desktop's browser")
	cmd.Flags().String("port", "", "listen on this `port`; 0 means any that is free")
	return cmd
}
