package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// generateFlags are the flags of generate.
type generateFlags struct {
	bus    string
	tools  int
	start  bool
	dryRun bool
	yes    bool
	probe  string
	words  string
	pairs  []string
}

func newGenerate(r *run) *cobra.Command {
	var f generateFlags
	bus := &enumFlag{value: &f.bus, allowed: []string{"session", "system"}}
	cmd := &cobra.Command{
		Use:   "generate [app]",
		Short: "Write an aai.json for a program, from its interfaces on D-Bus",
		Long: "Reads the program's interfaces, shows the new aai.json as a difference to the current one,\n" +
			"and saves it if you agree. The app is a bus name, a desktop id or a desktop entry's file name.\n" +
			"No tool that acts is called. A program that does not run is started only if you agree.\n" +
			"--probe tries one of the tools, once, after you authenticate. Without an app it lists the\n" +
			"generated descriptors of programs whose interfaces have changed since.",
		Example: "  aai-gateway generate org.gnome.Calculator --dry-run\n" +
			"  aai-gateway generate rhythmbox",
		Args: operands(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.words != "" {
				path, err := filepath.Abs(f.words)
				if err != nil {
					return err
				}
				f.words = path
			}
			switch {
			case len(args) == 0:
				return r.checkGenerated(cmd.Context())
			case f.probe != "":
				return r.probe(cmd, args[0], f)
			case len(f.pairs) > 0:
				return usage(cmd, "--arg is an argument of the tool that --probe tries; give them together")
			}
			return r.generate(cmd.Context(), args[0], f)
		},
	}
	cmd.Flags().Var(bus, "bus", "session or system; without it, where the program is found first")
	cmd.Flags().IntVar(&f.tools, "tools", 0, "at most so many tools, up to 200 (default 80)")
	cmd.Flags().StringVar(&f.words, "words", "", "take the titles and descriptions of this `file`, such as a model's better version or the words of an agent's draft, and nothing else")
	cmd.Flags().BoolVar(&f.start, "start", false, "let the bus start the program if it does not run")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would be saved, and save nothing")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask here; the gateway still asks you to authenticate")
	cmd.Flags().StringVar(&f.probe, "probe", "", "try the tool of this `name`, once")
	cmd.Flags().StringArrayVarP(&f.pairs, "arg", "a", nil, "with --probe, one argument of the tool: `name=value`, or name:=json")
	complete(cmd, "bus", bus.allowed...)
	return cmd
}

// generate shows the descriptor for a program and saves it if the person agrees.
func (r *run) generate(ctx context.Context, app string, f generateFlags) error {
	args := f.args(app)
	result, err := r.callBuiltin(ctx, "generate", withStart(args, f.start))
	if err != nil && !f.start && aai.AsError(err).Code == aai.AppNotRunning && r.output.terminal.Ask != nil {
		agreed, asking := r.confirm(ctx, aai.CleanLabel(aai.AsError(err).Message, maxLine)+"\nStart it?")
		if asking != nil || !agreed {
			return err
		}
		f.start = true
		result, err = r.callBuiltin(ctx, "generate", withStart(args, true))
	}
	if err != nil {
		return err
	}
	made, err := decodeView[answer.GeneratedApp](result.Data)
	if err != nil {
		return err
	}
	if r.output.format == formatJSON {
		return r.output.json(result.Data)
	}
	for _, note := range made.Notes {
		r.output.note(aai.CleanLabel(note, maxLine))
	}
	if made.Same {
		r.output.say("%s is there already, with the same content. Nothing to do.", made.Path)
		return nil
	}
	if made.Diff == "" {
		r.output.lines(result.Text)
	} else {
		r.output.lines(aai.CleanText(made.Diff, len(made.Diff)))
	}
	r.output.say("%s: %s, a guide of about %d tokens.", made.App, counted(made.Tools, "tool"), made.Tokens)
	if f.dryRun {
		return nil
	}
	args = withStart(args, f.start) // again: the person may have agreed to start the program
	args["seen"] = made.Seen
	return r.saveImport(ctx, "generate_save", fmt.Sprintf("Save this as %s?", made.Path), args, f.yes)
}

// args returns the arguments of the call for these flags.
func (f generateFlags) args(app string) map[string]any {
	args := map[string]any{"app": app}
	if f.bus != "" {
		args["bus"] = f.bus
	}
	if f.tools != 0 {
		args["tools"] = f.tools
	}
	if f.words != "" {
		args["words"] = f.words
	}
	return args
}

// probe tries one tool of the descriptor that would be generated.
func (r *run) probe(cmd *cobra.Command, app string, f generateFlags) error {
	f.words = ""
	args := withStart(f.args(app), f.start)
	args["tool"] = f.probe
	given, err := addPairs(cmd, nil, f.pairs, nil)
	if err != nil {
		return err
	}
	if len(given) > 0 {
		args["args"] = given
	}
	return r.showBuiltinResult(cmd.Context(), "generate_probe", args)
}

// checkGenerated lists the generated descriptors and marks those of changed programs.
func (r *run) checkGenerated(ctx context.Context) error {
	return r.showRows(ctx, "generate_check", nil, func(found *answerTable, _ *aai.Result) error {
		if len(found.rows) == 0 {
			r.output.say("No descriptor in ~/.aai was generated. Make one: %s generate <app>", program)
			return nil
		}
		r.output.showAnswerTable(found, nil, nil)
		return nil
	})
}

func withStart(args map[string]any, start bool) map[string]any {
	if !start {
		return args
	}
	all := map[string]any{"start": true}
	for name, value := range args {
		all[name] = value
	}
	return all
}
