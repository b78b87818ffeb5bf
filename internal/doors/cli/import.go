package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// importFlags are the flags of import.
type importFlags struct {
	id, server, login string
	groups            []string
	dryRun, yes, full bool
}

func newImport(r *run) *cobra.Command {
	var f serverFlags
	cmd := &cobra.Command{
		Use:   "import --from CLIENT",
		Short: "Import MCP servers or an API as apps",
		Long: "Imports the MCP servers of an agent's client as apps: shows them, and saves them if you agree. The values\n" +
			"of their variables and headers go into the vault, and their names into the files; no value is shown.\n" +
			"The client's own file changes only with --replace. \"import openapi\" imports an API.",
		Example: "  aai-gateway import --from claude-code --dry-run\n" +
			"  aai-gateway import --undo\n" +
			"  aai-gateway import --from cursor --server github --replace",
		Args: unknownCommandArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.undo {
				return r.importUndo(cmd.Context(), f.importFlags)
			}
			if f.from == "" {
				return usage(cmd, "%s needs --from CLIENT, whose MCP servers become apps (install --list names the clients), or openapi and a document", cmd.CommandPath())
			}
			return r.importServers(cmd.Context(), f)
		},
	}
	addServerFlags(r, cmd, &f)
	cmd.Flags().BoolVar(&f.undo, "undo", false, "undo the last import, of a client or of an API")
	cmd.AddCommand(newImportOpenAPI(r))
	return cmd
}

func newImportOpenAPI(r *run) *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "openapi <file|url>",
		Short: "Make an app of an API, from its OpenAPI document",
		Long: "Reads an OpenAPI document, 3.0 or 3.1 in JSON or YAML, shows the new aai.json and the parts of the\n" +
			"API that it leaves out, and saves it if you agree. Importing it again shows the changes.\n" +
			"It does not call the API.",
		Example: "  aai-gateway import openapi ./openapi.yaml --server https://api.example.com/v1\n" +
			"  aai-gateway import openapi https://api.example.com/openapi.json --group orders --dry-run",
		Args:              operands(1, 1),
		ValidArgsFunction: completeFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return r.importOpenAPI(cmd.Context(), args[0], f) },
	}
	cmd.Flags().StringVar(&f.id, "id", "", "the app's `id`, if not its host in reverse")
	cmd.Flags().StringVar(&f.server, "server", "", "the API's `url`, if not the one in the document")
	cmd.Flags().StringVar(&f.login, "login", "", "the `name` of the document's security scheme to use")
	cmd.Flags().StringArrayVar(&f.groups, "group", nil, "only the operations of this `tag`; may be given again")
	cmd.Flags().BoolVar(&f.full, "full", false, "show the difference of the file itself, not of its outline")
	addImportFlags(cmd, &f)
	return cmd
}

func addImportFlags(cmd *cobra.Command, f *importFlags) {
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would be saved, and save nothing")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask here; the gateway still asks you to authenticate")
}

func (r *run) importOpenAPI(ctx context.Context, source string, f importFlags) error {
	if !strings.Contains(source, "://") {
		path, err := filepath.Abs(source)
		if err != nil {
			return err
		}
		source = path
	}
	args := map[string]any{"source": source}
	for name, value := range map[string]string{"id": f.id, "server": f.server, "login": f.login} {
		if value != "" {
			args[name] = value
		}
	}
	if len(f.groups) > 0 {
		groups := make([]any, len(f.groups))
		for i, group := range f.groups {
			groups[i] = group
		}
		args["groups"] = groups
	}
	if f.full {
		args["full"] = true
	}
	result, err := r.callBuiltin(ctx, "import_openapi", args)
	if err != nil {
		return err
	}
	made, err := decodeView[answer.DraftedAPI](result.Data)
	if err != nil {
		return err
	}
	if r.output.format == formatJSON && f.dryRun {
		return r.output.json(result.Data)
	}
	r.showAPI(made)
	if made.Same || f.dryRun {
		return nil
	}
	args["seen"] = made.Seen
	return r.saveImport(ctx, "import_openapi_save", fmt.Sprintf("Save this as %s?", made.Path), args, f.yes)
}

// showAPI shows which parts of an API become an app, and which do not.
func (r *run) showAPI(made answer.DraftedAPI) {
	r.output.lines(aai.CleanText(made.Diff, len(made.Diff)))
	if made.DiffOmitted > 0 {
		r.output.say("… and %d more lines.", made.DiffOmitted)
	}
	for _, left := range made.Left {
		r.output.note(aai.CleanLabel("left out: "+left.Operation+": "+left.Reason, maxLine))
	}
	for _, note := range made.Notes {
		r.output.note(aai.CleanLabel(note, maxLine))
	}
	if len(made.Groups) > 1 {
		groups := make([]string, len(made.Groups))
		for i, group := range made.Groups {
			groups[i] = fmt.Sprintf("%s (%d)", group.Name, group.Tools)
		}
		r.output.say("Groups: %s.", aai.CleanText(strings.Join(groups, ", "), maxQuestion))
	}
	if len(made.Changes) > 0 {
		r.output.say("Changes for agents:")
		for _, change := range made.Changes {
			r.output.say("  %s", aai.CleanLabel(change, maxLine))
		}
	}
	r.output.say("%s at %s: %d of its %s as tools.", made.App, aai.CleanLabel(made.BaseURL, maxLine), made.Tools, counted(made.Operations, "operation"))
	if made.Login != "" {
		r.output.say("It needs a login: aai-gateway auth login %s, once it is saved.", made.App)
	}
	if made.Same {
		r.output.say("%s is there already, with the same content. Nothing to do.", made.Path)
	}
}

// saveImport asks the person at the terminal and saves the shown import.
func (r *run) saveImport(ctx context.Context, tool, question string, args map[string]any, agreed bool) (err error) {
	if !agreed && r.output.terminal.Ask == nil {
		e := aai.Errorf(aai.ConsentRequired, "there is no terminal to confirm this at; nothing was saved")
		e.Hint = "Run it at a terminal, or with --dry-run, which only shows it."
		return e
	}
	if !agreed {
		if agreed, err = r.confirm(ctx, question); err != nil {
			return err
		}
	}
	if !agreed {
		r.output.say("Nothing was saved.")
		return nil
	}
	saved, err := r.callBuiltin(ctx, tool, args)
	if err != nil {
		return err
	}
	return r.output.show(saved.Data, func() error {
		r.output.say("%s", saved.Text)
		return nil
	})
}
