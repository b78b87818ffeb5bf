package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
)

func newServers(r *run) *cobra.Command {
	return &cobra.Command{
		Use: "servers", Short: "List the MCP servers that are apps",
		Args: unknownCommandArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return r.showRows(cmd.Context(), "mcp_servers", nil, func(sheet *answerTable, _ *aai.Result) error {
				if len(sheet.rows) == 0 {
					r.output.note("No app is an MCP server.")
					return nil
				}
				r.output.showAnswerTable(sheet, nil, nil)
				return nil
			})
		},
	}
}

func newServerEnv(r *run) *cobra.Command {
	forget := false
	cmd := &cobra.Command{
		Use: "env <app> <NAME>...", Short: "Store, encrypted, the environment variables of an MCP server",
		Long: "Asks for the values of variables that the descriptor of an MCP server names, such as its\n" +
			"API key, and stores them encrypted. Your input is not shown; agents never see it.",
		Example: "  aai-gateway mcp env org.example.Search SEARCH_API_KEY",
		Args:    operands(2, 100),
		RunE: func(cmd *cobra.Command, args []string) error {
			return r.serverEnv(cmd.Context(), args[0], args[1:], forget)
		},
	}
	cmd.Flags().BoolVar(&forget, "forget", false, "delete them")
	return cmd
}

func (r *run) serverEnv(ctx context.Context, app string, names []string, forget bool) error {
	values := make(map[string]any, len(names))
	for _, name := range names {
		typed := ""
		if !forget {
			var err error
			if typed, err = r.readSecret(ctx, fmt.Sprintf("%s for %s (not shown): ", aai.CleanLabel(name, maxLine), aai.CleanLabel(app, maxLine))); err != nil {
				return err
			}
		}
		values[name] = typed
	}
	return r.showAnswer(ctx, "mcp_env", map[string]any{"app": app, "values": values}, func(result *aai.Result) error {
		word := "Kept"
		if forget {
			word = "Forgotten"
		}
		r.output.say("%s for %s.", word, aai.CleanLabel(app, maxLine))
		return nil
	})
}

func newServerTrust(r *run) *cobra.Command {
	undo, elicitation, sampling := false, false, false
	cmd := &cobra.Command{
		Use: "trust <app> [tool]...", Short: "Trust an MCP server's annotations of its current tools, or let it ask",
		Long: "A server may annotate a tool as read-only, or as not destructive. Nothing enforces\n" +
			"that, so the gateway ignores it until you trust it here, and again\n" +
			"when the tool's description changes.\n\n" +
			"With --elicitation or --sampling instead: let the server ask you something during a call,\n" +
			"or have the caller's model write a text. --undo revokes both.",
		Example: "  aai-gateway mcp trust org.example.Search --elicitation --sampling",
		Args:    operands(1, 1000),
		RunE: func(cmd *cobra.Command, args []string) error {
			call := map[string]any{"app": args[0], "undo": undo}
			if len(args) > 1 {
				tools := make([]any, 0, len(args)-1)
				for _, tool := range args[1:] {
					tools = append(tools, tool)
				}
				call["tools"] = tools
			}
			if asks := selectWords(elicitation, "elicitation", sampling, "sampling"); len(asks) > 0 {
				return r.trustServer(cmd.Context(), args, asks, undo)
			}
			return r.showAnswer(cmd.Context(), "mcp_trust", call, func(result *aai.Result) error {
				believed, err := decodeView[struct {
					Believed map[string]string `json:"believed"`
				}](result.Data)
				if err == nil {
					r.output.say("In %s, %d tools are trusted.", aai.CleanLabel(args[0], maxLine), len(believed.Believed))
				}
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&undo, "undo", false, "end the trust; with --elicitation or --sampling: let it ask nothing any more")
	cmd.Flags().BoolVar(&elicitation, "elicitation", false, "it may ask you something during a call")
	cmd.Flags().BoolVar(&sampling, "sampling", false, "it may have the caller's model write a text")
	return cmd
}

func selectWords(one bool, oneWord string, other bool, otherWord string) []string {
	words := []string{}
	if one {
		words = append(words, oneWord)
	}
	if other {
		words = append(words, otherWord)
	}
	return words
}

// trustServer permits a server to send the requests in asks, or none with undo.
func (r *run) trustServer(ctx context.Context, args []string, asks []string, undo bool) error {
	if len(args) > 1 {
		return aai.Errorf(aai.InvalidParams, "tools cannot be named together with --elicitation or --sampling, which apply to the whole server")
	}
	if undo {
		asks = nil
	}
	given := make([]any, len(asks))
	for i := range asks {
		given[i] = asks[i]
	}
	return r.showAnswer(ctx, "mcp_trust", map[string]any{"app": args[0], "asks": given}, func(result *aai.Result) error {
		name := aai.CleanLabel(args[0], maxLine)
		if len(asks) == 0 {
			r.output.say("%s may ask for nothing.", name)
			return nil
		}
		r.output.say("%s may ask for %s, and nothing else.", name, strings.Join(asks, " and "))
		return nil
	})
}
