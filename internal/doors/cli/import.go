package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

func newImport(r *run) *cobra.Command {
	cmd := r.newToolCommand(&cobra.Command{
		Use:   "import --from CLIENT",
		Short: "Import MCP servers or an API as apps",
		Long: "Imports the MCP servers of an agent's client as apps: shows them, and saves them if you agree. The values\n" +
			"of their variables and headers go into the vault, and their names into the files; no value is shown.\n" +
			"The client's own file changes only with --replace. \"import openapi\" imports an API.",
		Example: "  aai-gateway import --from claude-code --dry-run\n" +
			"  aai-gateway import --undo\n" +
			"  aai-gateway import --from cursor --server github --replace",
		Args: unknownCommandArgs,
	}, toolCommand{
		tool: "import_servers",
		flags: []toolFlag{
			{"from=client", "", "the client whose MCP servers to import, by its `name` in install --list"},
			{"server=servers", []string(nil), "only this server, by its `name` there; may be given again"},
			{"project", "", "the project's `folder`, whose servers are imported too, and in which places such as ./x are; without it the servers of the current folder"},
			{"replace", false, "remove them from the client's file, which starts the gateway instead"},
			{"undo=", false, "undo the last import, of a client or of an API"},
		},
		prepare: func(c *toolCall) (err error) {
			if project, given := c.args["project"].(string); given {
				if c.args["project"], err = filepath.Abs(project); err != nil {
					return err
				}
			}
			switch {
			case c.isSet("undo"):
				c.tool, c.args = "import_undo", map[string]any{}
			case c.args["client"] == nil:
				return usage(c.cmd, "%s needs --from CLIENT, whose MCP servers become apps (install --list names the clients), or openapi and a document", c.cmd.CommandPath())
			}
			return nil
		},
		show: func(r *run, c *toolCall) error {
			if c.tool == "import_undo" {
				return drafted(undoImport)(r, c)
			}
			return drafted(importServers)(r, c)
		},
	})
	completeWith(cmd, "from", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return r.clientIDs(), cobra.ShellCompDirectiveNoFileComp
	})
	addImportFlags(cmd)
	cmd.AddCommand(newImportOpenAPI(r))
	return cmd
}

func newImportOpenAPI(r *run) *cobra.Command {
	cmd := r.newToolCommand(&cobra.Command{
		Use:   "openapi <file|url>",
		Short: "Make an app of an API, from its OpenAPI document",
		Long: "Reads an OpenAPI document, 2.0 or 3.x in JSON or YAML, shows the new aai.json and the parts of the\n" +
			"API that it leaves out, and saves it if you agree. Importing it again shows the changes.\n" +
			"It does not call the API.",
		Example: "  aai-gateway import openapi ./openapi.yaml --server https://api.example.com/v1\n" +
			"  aai-gateway import openapi https://api.example.com/openapi.json --group orders --dry-run",
		ValidArgsFunction: completeFiles,
	}, toolCommand{
		tool: "import_openapi", operands: "source", show: drafted(importOpenAPI),
		flags: []toolFlag{
			{"id", "", "the app's `id`, if not its host in reverse"},
			{"server", "", "the API's `url`, if not the one in the document"},
			{"login", "", "the `name` of the document's security scheme to use"},
			{"group=groups", []string(nil), "only the operations of this `tag`; may be given again"},
			{"full", false, "show the difference of the file itself, not of its outline"},
		},
		prepare: func(c *toolCall) (err error) {
			if source, _ := c.args["source"].(string); !strings.Contains(source, "://") {
				c.args["source"], err = filepath.Abs(source)
			}
			return err
		},
	})
	addImportFlags(cmd)
	return cmd
}

func addImportFlags(cmd *cobra.Command) {
	cmd.Flags().Bool("dry-run", false, "show what would be saved, and save nothing")
	cmd.Flags().BoolP("yes", "y", false, "do not ask here; the gateway still asks you to authenticate")
}

// drafted shows a draft by show, which saves it too. With --format json and --dry-run it shows the
// draft as JSON alone.
func drafted[T any](show func(*run, T, *toolCall) error) showFunc {
	return func(r *run, c *toolCall) error {
		draft, err := decodeView[T](c.result.Data)
		switch {
		case err != nil:
			return err
		case r.output.format == formatJSON && c.isSet("dry-run"):
			return r.output.json(c.result.Data)
		}
		return show(r, draft, c)
	}
}

// importOpenAPI shows the app of an API, and saves it if the person agrees.
func importOpenAPI(r *run, made answer.DraftedAPI, c *toolCall) error {
	r.showAPI(made)
	if made.Same {
		return nil
	}
	return r.saveImport(c, "import_openapi_save", fmt.Sprintf("Save this as %s?", made.Path), made.Seen)
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
	r.output.say("%s at %s: %d of its %s as tools.", made.App, aai.CleanLabel(made.BaseURL, maxLine), made.Tools, aai.Count(made.Operations, "operation"))
	if made.Login != "" {
		r.output.say("It needs a login: aai-gateway auth login %s, once it is saved.", made.App)
	}
	if made.Same {
		r.output.say("%s is there already, with the same content. Nothing to do.", made.Path)
	}
}

// saveImport asks the person at the terminal, and saves by tool the import that seen identifies. With
// --dry-run it does nothing.
func (r *run) saveImport(c *toolCall, tool, question, seen string) (err error) {
	if c.isSet("dry-run") {
		return nil
	}
	agreed := c.isSet("yes")
	if !agreed && r.output.terminal.Ask == nil {
		e := aai.Errorf(aai.ConsentRequired, "there is no terminal to confirm this at; nothing was saved")
		e.Hint = "Run it at a terminal, or with --dry-run, which only shows it."
		return e
	}
	if !agreed {
		if agreed, err = r.confirm(c.cmd.Context(), question); err != nil {
			return err
		}
	}
	if !agreed {
		r.output.say("Nothing was saved.")
		return nil
	}
	c.tool, c.args["seen"] = tool, seen
	return r.callAndShow(c, inText(func(r *run, saved *toolCall) error {
		r.output.say("%s", saved.result.Text)
		return nil
	}))
}
