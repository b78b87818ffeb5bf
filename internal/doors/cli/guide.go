package cli

import (
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

func newGuide(r *run) *cobra.Command {
	return r.newToolCommand(&cobra.Command{
		Use:               "guide <app>",
		Short:             "Show the tools of an app and how to call them",
		ValidArgsFunction: r.completeApp,
	}, toolCommand{
		tool: "guide", operands: "app", show: showGuide,
		flags: []toolFlag{
			{"descriptor=", false, "show the app's aai.json as its author wrote it"},
			{"group", "", "only the tools of this `group`, of an app with very many"},
			{"after", "", "the page behind this `tool`"},
		},
		prepare: func(c *toolCall) error {
			if c.isSet("descriptor") {
				c.tool, c.args = "descriptor", map[string]any{"app": c.args["app"]}
			}
			return nil
		},
	})
}

// showGuide shows the text that a tool returns about an app.
func showGuide(r *run, c *toolCall) error {
	return r.output.show(guideData(c.result), func() error {
		if c.tool == "guide" {
			r.output.lines(asCommands(c.result.Text))
		} else {
			r.output.lines(c.result.Text)
		}
		return nil
	})
}

// asCommands replaces the calls in an agent's guide by commands.
func asCommands(guide string) string {
	var b strings.Builder
	for line := range strings.Lines(guide) {
		before, call, found := strings.Cut(line, "aai_exec(")
		d := json.NewDecoder(strings.NewReader(call))
		var c answer.PreparedCall
		switch {
		case line == "Use the aai_exec tool to run these operations.\n":
			line = "Run them with: aai-gateway exec <app> <tool> --arg name=value\n"
		case found && d.Decode(&c) == nil && strings.HasPrefix(call[d.InputOffset():], ")"):
			line = before + command(c) + call[d.InputOffset()+1:]
		}
		b.WriteString(line)
	}
	return b.String()
}

// command formats a call as a shell command.
func command(c answer.PreparedCall) string {
	of := map[string]any{}
	own := c.App == aai.BuiltinApp && json.Unmarshal(c.Args, &of) == nil
	name, _ := of["app"].(string)
	switch {
	case own && c.Tool == "guide" && name != "" && of["tool"] == nil:
		line := sanitize.ShellJoin("aai-gateway", "guide", name)
		for _, flag := range []string{"group", "after"} {
			if value, ok := of[flag].(string); ok {
				line += " " + sanitize.ShellJoin("--"+flag, value)
			}
		}
		return line
	case own && c.Tool == "search" && name != "":
		return sanitize.ShellJoin("aai-gateway", "search", "--app", name) + " …"
	}
	return sanitize.ShellJoin("aai-gateway", "exec", c.App, c.Tool, string(c.Args))
}

// guideData returns the JSON form of a guide: its data or, without data, its text, which
// for a descriptor is JSON itself.
func guideData(result *aai.Result) any {
	switch {
	case result.Data != nil:
		return result.Data
	case json.Valid([]byte(result.Text)):
		return json.RawMessage(result.Text)
	}
	return result.Text
}
