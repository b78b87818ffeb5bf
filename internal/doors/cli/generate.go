package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"aai"
)

// generateFlags are the flags of generate.
type generateFlags struct {
	bus    string
	tools  int
	start  bool
	dryRun bool
}

func newGenerate(r *run) *cobra.Command {
	var f generateFlags
	bus := &oneOf{value: &f.bus, allowed: []string{"session", "system"}}
	cmd := &cobra.Command{
		Use:   "generate <app>",
		Short: "Write an aai.json for a program, from what it says of itself on D-Bus",
		Long: "Asks the program what it can do, shows the aai.json that follows as a difference to what is there,\n" +
			"and saves it if you say so. The app is a bus name, a desktop id or a desktop entry's file name.\n" +
			"Nothing that acts is called. A program that does not run is started only if you say so.",
		Example: "  aai-gateway generate org.gnome.Calculator --dry-run\n" +
			"  aai-gateway generate rhythmbox",
		Args:              operands(1, 1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return r.generate(cmd.Context(), args[0], f) },
	}
	cmd.Flags().Var(bus, "bus", "session or system; without it, where the program is found first")
	cmd.Flags().IntVar(&f.tools, "tools", 0, "at most so many tools, up to 200 (default 80)")
	cmd.Flags().BoolVar(&f.start, "start", false, "let the bus start the program if it does not run")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would be saved, and save nothing")
	complete(cmd, "bus", bus.allowed...)
	return cmd
}

// generated is what is shown of a descriptor that was generated.
type generated struct {
	App    string   `json:"app"`
	Path   string   `json:"path"`
	Seen   string   `json:"seen"`
	Same   bool     `json:"same"`
	Tools  int      `json:"tools"`
	Tokens int      `json:"guide_tokens"`
	Diff   string   `json:"diff"`
	Notes  []string `json:"notes"`
}

// generate shows what follows from a program, and saves it if the person says so.
func (r *run) generate(ctx context.Context, app string, f generateFlags) error {
	args := map[string]any{"app": app}
	if f.bus != "" {
		args["bus"] = f.bus
	}
	if f.tools != 0 {
		args["tools"] = f.tools
	}
	result, err := r.own(ctx, "generate", withStart(args, f.start))
	if err != nil && !f.start && aai.AsError(err).Code == aai.AppNotRunning && r.output.terminal.Ask != nil {
		agreed, asking := r.confirm(ctx, aai.CleanLabel(aai.AsError(err).Message, maxLine)+"\nStart it?")
		if asking != nil || !agreed {
			return err
		}
		result, err = r.own(ctx, "generate", withStart(args, true))
	}
	if err != nil {
		return err
	}
	made, err := view[generated](result.Data)
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
		r.output.say("%s is there already, and the same. Nothing to do.", made.Path)
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
	args["seen"] = made.Seen
	return r.saveGenerated(ctx, made, args)
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

// saveGenerated asks the person at the terminal, and saves what they were shown.
func (r *run) saveGenerated(ctx context.Context, made generated, args map[string]any) error {
	if r.output.terminal.Ask == nil {
		e := aai.Errorf(aai.ConsentRequired, "nobody is at a terminal to say yes to this descriptor; nothing was saved")
		e.Hint = "Run it at a terminal, or with --dry-run, which only shows it."
		return e
	}
	agreed, err := r.confirm(ctx, fmt.Sprintf("Save this as %s?", made.Path))
	if err != nil {
		return err
	}
	if !agreed {
		r.output.say("Nothing was saved.")
		return nil
	}
	saved, err := r.own(ctx, "generate_save", args)
	if err != nil {
		return err
	}
	r.output.say("%s", saved.Text)
	return nil
}
