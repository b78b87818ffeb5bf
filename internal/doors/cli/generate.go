package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

func newGenerate(r *run) *cobra.Command {
	bus := &enumFlag{value: new(string), allowed: []string{"session", "system"}}
	cmd := r.newToolCommand(&cobra.Command{
		Use:   "generate [app]",
		Short: "Write an aai.json for a program, from its interfaces on D-Bus or COM",
		Long: "Reads the program's interfaces, shows the new aai.json as a difference to the current one,\n" +
			"and saves it if you agree. The app is a bus name, a desktop id or a desktop entry's file name,\n" +
			"on Windows a ProgID such as Outlook.Application.\n" +
			"No tool that acts is called. A program that does not run is started only if you agree.\n" +
			"--probe tries one of the tools, once, after you authenticate. Without an app it lists the\n" +
			"generated descriptors of programs whose interfaces have changed since.",
		Example: "  aai-gateway generate org.gnome.Calculator --dry-run\n" +
			"  aai-gateway generate rhythmbox\n" +
			"  aai-gateway generate rhythmbox --model 'ollama run llama3.2'",
	}, toolCommand{
		tool: "generate", operands: "[app]", prepare: r.prepareGeneration, show: showGeneration,
		flags: []toolFlag{
			{"bus", bus, "session or system; without it, where the program is found first"},
			{"tools", 0, "at most so many tools, up to 200 (default 80)"},
			{"full", false, "show the whole difference, however long"},
			{"words", "", "take the titles and descriptions of this `file`, such as a model's better version or the words of an agent's draft, and nothing else"},
			{"model=", "", "have the model behind this `command` write better titles and descriptions, such as 'claude -p' or 'ollama run llama3.2'"},
			{"start", false, "let the bus start the program if it does not run"},
			{"probe=", "", "try the tool of this `name`, once"},
		},
	})
	addImportFlags(cmd)
	cmd.Flags().StringArrayP("arg", "a", nil, "with --probe, one argument of the tool: `name=value`, or name:=json")
	complete(cmd, "bus", bus.allowed...)
	return cmd
}

// prepareGeneration turns the call into a check of all generated descriptors without an app, and
// into a trial of a tool with --probe.
func (r *run) prepareGeneration(c *toolCall) (err error) {
	if words, given := c.args["words"].(string); given {
		if c.args["words"], err = filepath.Abs(words); err != nil {
			return err
		}
	}
	if command := strings.Fields(c.cmd.Flag("model").Value.String()); len(command) > 0 {
		c.args["improve"], r.sample = true, r.askCommand(command)
	}
	pairs, err := c.cmd.Flags().GetStringArray("arg")
	switch {
	case err != nil:
		return err
	case c.args["app"] == nil:
		c.tool, c.args = "generate_check", nil
	case c.cmd.Flag("probe").Value.String() != "":
		c.tool, c.args["tool"] = "generate_probe", c.cmd.Flag("probe").Value.String()
		delete(c.args, "words")
		delete(c.args, "improve")
		given, err := addPairs(c.cmd, nil, pairs, nil)
		if len(given) > 0 {
			c.args["args"] = given
		}
		return err
	case len(pairs) > 0:
		return usage(c.cmd, "--arg is an argument of the tool that --probe tries; give them together")
	default:
		c.retry = r.agreeToStart
	}
	return nil
}

// agreeToStart asks the person whether to start a program that does not run.
func (r *run) agreeToStart(c *toolCall, err error) bool {
	if c.isSet("start") || aai.AsError(err).Code != aai.AppNotRunning || r.output.terminal.Ask == nil {
		return false
	}
	agreed, asking := r.confirm(c.cmd.Context(), aai.CleanLabel(aai.AsError(err).Message, maxLine)+"\nStart it?")
	c.args["start"] = true
	return asking == nil && agreed
}

// showGeneration shows the descriptor of a program, and saves it if the person agrees.
func showGeneration(r *run, c *toolCall) error {
	switch c.tool {
	case "generate_check":
		return inRows(showGenerated)(r, c)
	case "generate_probe":
		return r.showResult(c.result)
	}
	made, err := decodeView[answer.GeneratedApp](c.result.Data)
	if err != nil {
		return err
	}
	if r.output.format == formatJSON {
		return r.output.json(c.result.Data)
	}
	for _, note := range made.Notes {
		r.output.note(aai.CleanLabel(note, maxLine))
	}
	if made.Same {
		r.output.say("%s is there already, with the same content. Nothing to do.", made.Path)
		return nil
	}
	if made.Diff == "" {
		r.output.lines(c.result.Text)
	} else {
		r.output.lines(aai.CleanText(made.Diff, len(made.Diff)))
	}
	if c.args["improve"] != nil { // the shown words are saved; a second answer of the model may differ
		delete(c.args, "improve")
		if c.args["words"], err = decodeView[map[string]any](made.Words); err != nil {
			return err
		}
	}
	r.output.say("%s: %s, a guide of about %d tokens.", made.App, aai.Count(made.Tools, "tool"), made.Tokens)
	return r.saveImport(c, "generate_save", fmt.Sprintf("Save this as %s?", made.Path), made.Seen)
}

// showGenerated lists the generated descriptors and marks those of changed programs.
func showGenerated(r *run, s *answerTable, _ *toolCall) {
	if len(s.rows) == 0 {
		r.output.say("No descriptor in ~/.aai was generated. Make one: %s generate <app>", program)
		return
	}
	r.output.showAnswerTable(s, nil, nil)
}
