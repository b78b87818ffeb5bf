package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
)

func newServers(r *run) *cobra.Command {
	return r.newToolCommand(&cobra.Command{
		Use: "servers", Short: "List the MCP servers that are apps",
		Args: unknownCommandArgs,
	}, toolCommand{tool: "mcp_servers", show: rowsOr("No app is an MCP server.")})
}

func newServerEnv(r *run) *cobra.Command {
	return r.newToolCommand(&cobra.Command{
		Use: "env <app> <NAME>...", Short: "Store, encrypted, the environment variables of an MCP server",
		Long: "Asks for the values of variables that the descriptor of an MCP server names, such as its\n" +
			"API key, and stores them encrypted. Your input is not shown; agents never see it.",
		Example: "  aai-gateway mcp env org.example.Search SEARCH_API_KEY",
		Args:    operands(2, 100),
	}, toolCommand{
		tool: "mcp_env", operands: "app values...", flags: []toolFlag{{"forget=", false, "delete them"}},
		prepare: r.askVariables,
		show: inText(func(r *run, c *toolCall) error {
			word := "Kept"
			if c.isSet("forget") {
				word = "Forgotten"
			}
			r.output.say("%s for %s.", word, aai.CleanLabel(c.cmd.Flags().Arg(0), maxLine))
			return nil
		}),
	})
}

// askVariables asks for the values of variables, or sets them to "" with --forget.
func (r *run) askVariables(c *toolCall) (err error) {
	operands, values := c.cmd.Flags().Args(), map[string]any{}
	for _, name := range operands[1:] {
		typed := ""
		if !c.isSet("forget") {
			prompt := fmt.Sprintf("%s for %s (not shown): ", aai.CleanLabel(name, maxLine), aai.CleanLabel(operands[0], maxLine))
			if typed, err = r.readSecret(c.cmd.Context(), prompt); err != nil {
				return err
			}
		}
		values[name] = typed
	}
	c.args = map[string]any{"app": operands[0], "values": values}
	return nil
}

func newServerTrust(r *run) *cobra.Command {
	return r.newToolCommand(&cobra.Command{
		Use: "trust <app> [tool]...", Short: "Trust an MCP server's annotations of its current tools, or let it ask",
		Long: "A server may annotate a tool as read-only, or as not destructive. Nothing enforces\n" +
			"that, so the gateway ignores it until you trust it here, and again\n" +
			"when the tool's description changes.\n\n" +
			"With --elicitation or --sampling instead: let the server ask you something during a call,\n" +
			"or have the caller's model write a text. --undo revokes both.",
		Example: "  aai-gateway mcp trust org.example.Search --elicitation --sampling",
		Args:    operands(1, 1000),
	}, toolCommand{
		tool: "mcp_trust", operands: "app [tools]...", prepare: prepareTrust, show: inText(showTrust),
		flags: []toolFlag{
			{"undo=", false, "end the trust; with --elicitation or --sampling: let it ask nothing any more"},
			{"elicitation=", false, "it may ask you something during a call"},
			{"sampling=", false, "it may have the caller's model write a text"},
		},
	})
}

// prepareTrust names the requests that the server may send, or none with --undo; without any, the
// call is about the annotations of its tools.
func prepareTrust(c *toolCall) error {
	asks := requests(c)
	switch {
	case len(asks) == 0:
		c.args["undo"] = c.isSet("undo")
		return nil
	case c.args["tools"] != nil:
		return aai.Errorf(aai.InvalidParams, "tools cannot be named together with --elicitation or --sampling, which apply to the whole server")
	case c.isSet("undo"):
		asks = nil
	}
	c.args["asks"] = listOf(asks)
	return nil
}

// requests returns the requests of the server that the flags name.
func requests(c *toolCall) []string {
	return slices.DeleteFunc([]string{"elicitation", "sampling"}, func(request string) bool { return !c.isSet(request) })
}

func showTrust(r *run, c *toolCall) error {
	name := aai.CleanLabel(c.cmd.Flags().Arg(0), maxLine)
	switch asks := requests(c); {
	case len(asks) > 0 && c.isSet("undo"):
		r.output.say("%s may ask for nothing.", name)
	case len(asks) > 0:
		r.output.say("%s may ask for %s, and nothing else.", name, strings.Join(asks, " and "))
	default:
		believed, err := decodeView[struct{ Believed map[string]string }](c.result.Data)
		if err != nil {
			return err
		}
		r.output.say("Trusted in %s: %s.", name, aai.Count(len(believed.Believed), "tool"))
	}
	return nil
}

func newPins(r *run) *cobra.Command {
	return r.newToolCommand(&cobra.Command{
		Use: "pins", Short: "List the tools that agents are shown by themselves, and their tokens",
		Args: unknownCommandArgs,
	}, toolCommand{tool: "pins", show: rowsOr("No tool is pinned.")})
}

func newPin(r *run) *cobra.Command {
	return r.newToolCommand(&cobra.Command{
		Use: "pin <app> <tool>", Short: "Show agents a tool by itself, in every conversation",
		Long: "Agents see one entry for each app, and run its tools after reading its guide. A pinned tool is in\n" +
			"their list by itself, with its parameters: they call it at once, and each conversation takes more\n" +
			"tokens. Its calls need your consent as before. Running gateways follow.",
		Example: "  aai-gateway mcp pin org.example.Search search\n  aai-gateway mcp pin workflows quieter",
	}, toolCommand{tool: "pin", operands: "app tool", show: showText})
}

func newUnpin(r *run) *cobra.Command {
	return r.newToolCommand(&cobra.Command{
		Use: "unpin <app> <tool>", Short: "Take a pinned tool out of the list of agents",
	}, toolCommand{tool: "unpin", operands: "app tool", show: showText})
}
