package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// serverFlags are the flags of "import --from".
type serverFlags struct {
	importFlags
	from    string
	servers []string
	replace bool
	undo    bool
}

func addServerFlags(r *run, cmd *cobra.Command, f *serverFlags) {
	cmd.Flags().StringVar(&f.from, "from", "", "the client whose MCP servers to import, by its `name` in install --list")
	cmd.Flags().StringArrayVar(&f.servers, "server", nil, "only this server, by its `name` there; may be given again")
	cmd.Flags().BoolVar(&f.replace, "replace", false, "remove them from the client's file, which starts the gateway instead")
	addImportFlags(cmd, &f.importFlags)
	completeWith(cmd, "from", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return r.clientIDs(), cobra.ShellCompDirectiveNoFileComp
	})
}

// clientIDs returns the ids of the supported clients.
func (r *run) clientIDs() []string {
	if r.cfg.Clients == nil {
		return nil
	}
	known, err := r.cfg.Clients(r.flags)
	if err != nil {
		return nil
	}
	var ids []string
	for _, c := range known.List() {
		ids = append(ids, c.ID)
	}
	return ids
}

func (r *run) importServers(ctx context.Context, f serverFlags) error {
	args := map[string]any{"client": f.from}
	if len(f.servers) > 0 {
		servers := make([]any, len(f.servers))
		for i, server := range f.servers {
			servers[i] = server
		}
		args["servers"] = servers
	}
	if f.replace {
		args["replace"] = true
	}
	result, err := r.callBuiltin(ctx, "import_servers", args)
	if err != nil {
		return err
	}
	made, err := decodeView[answer.DraftedServers](result.Data)
	if err != nil {
		return err
	}
	if r.output.format == formatJSON && f.dryRun {
		return r.output.json(result.Data)
	}
	r.showServers(made)
	if len(made.Apps) == 0 || f.dryRun {
		return nil
	}
	args["seen"] = made.Seen
	question := "Save " + counted(len(made.Apps), "app") + ", and their values in the vault?"
	if made.Replace != nil {
		question = "Save " + counted(len(made.Apps), "app") + ", their values in the vault, and change " + made.File + "?"
	}
	if err := r.saveImport(ctx, "import_servers_save", question, args, f.yes); err != nil {
		return err
	}
	if made.Replace != nil {
		r.output.note(made.Replace.After)
	}
	return nil
}

// showServers shows which servers become apps, and which do not.
func (r *run) showServers(made answer.DraftedServers) {
	for _, app := range made.Apps {
		if app.Same {
			r.output.say("%s: %s is there already, with the same content; its values are imported again.", aai.CleanLabel(app.Server, maxLine), app.Path)
		} else {
			r.output.lines(aai.CleanText(app.Diff, len(app.Diff)))
		}
		if len(app.Variables) > 0 {
			r.output.say("Values into the vault: %s.", aai.CleanLabel(strings.Join(app.Variables, ", "), maxLine))
		}
		if app.Login != "" {
			r.output.say("The key of its login (%s) goes there too.", aai.CleanLabel(app.Login, maxLine))
		}
		for _, note := range app.Notes {
			r.output.note(aai.CleanLabel(app.Server+": "+note, maxLine))
		}
	}
	for _, left := range made.Left {
		r.output.note(aai.CleanLabel("left out: "+left.Server+": "+left.Reason, maxLine))
	}
	if made.Replace != nil {
		r.output.lines(made.Replace.Diff)
		for _, note := range made.Replace.Notes {
			r.output.warn(note)
		}
	}
	if len(made.Apps) == 0 {
		r.output.say("%s has no MCP server in %s that can be imported.", made.Client, made.File)
	}
}
