package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
)

// A Leftover is a file or folder of the gateway that uninstall leaves, and why.
type Leftover struct{ Path, Reason string }

func newUninstall(r *run) *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "uninstall [--client NAME]",
		Short: "Remove the gateway from the configurations of agents' clients",
		Long: "Restores each configuration, byte for byte, if it has not changed since; otherwise removes only\n" +
			"the gateway's entry. Then it lists the gateway's own files that stay, and why. --purge deletes\n" +
			"them too: the journal, consents, stored secrets, settings and the apps in ~/.aai.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.purge && len(f.clients) > 0 {
				return usage(cmd, "--purge deletes the files that all clients share; give it without --client")
			}
			return r.changeClients(cmd.Context(), ClientUninstall, f)
		},
	}
	addInstallFlags(r, cmd, &f)
	cmd.Flags().BoolVar(&f.purge, "purge", false, "then delete all files of the gateway: journal, consents, secrets, settings, ~/.aai")
	return cmd
}

// clearLeftovers lists the files that stay, and with --purge deletes them if the person agrees.
func (r *run) clearLeftovers(ctx context.Context, known Clients, f installFlags) error {
	left := known.Leftovers()
	if len(left) == 0 {
		return nil
	}
	if f.purge {
		r.output.say("--purge deletes these files of the gateway:")
	} else {
		r.output.say("These files of the gateway stay:")
	}
	for _, one := range left {
		r.output.say("  %s: %s", one.Path, one.Reason)
	}
	if !f.purge {
		r.output.say("\"%s uninstall --purge\" deletes them.", program)
		return nil
	}
	if f.dryRun {
		return nil
	}
	if !f.yes {
		if r.output.terminal.Ask == nil {
			e := aai.Errorf(aai.ConsentRequired, "there is no terminal to confirm --purge at; the files stay")
			e.Hint = "--yes deletes them without asking."
			return e
		}
		agreed, err := r.confirm(ctx, "Delete them for good? No backup is kept.")
		if err != nil || !agreed {
			return err
		}
	}
	for _, one := range left {
		if err := known.Purge(one); err != nil {
			e := aai.Errorf(aai.AutomationFailed, "%s cannot be deleted: %w", one.Path, err)
			e.Hint = "Quit the agents that run the gateway, or change the owner of the files; then run this again."
			return e
		}
	}
	r.output.say("Deleted. A gateway that still runs makes some of them anew: quit your agents first. " +
		"The keychain may keep the vault's key, which opens nothing without the vault.")
	return nil
}
