package cli

import (
	"time"

	"github.com/spf13/cobra"
)

// Tokens manages the tokens by which agents authenticate over HTTP, one for each agent.
type Tokens interface {
	// Add creates a token and returns it.
	Add(name string) (token string, err error)
	// List returns the valid tokens, without their secrets.
	List() ([]Token, error)
	Revoke(name string) error
}

// A Token describes the token of one agent, without its secret.
type Token struct {
	Name      string    `json:"name"`
	Identity  string    `json:"identity"` // of callers with this token
	CreatedAt time.Time `json:"made"`
}

func newToken(r *run) *cobra.Command {
	var rotate bool
	token := &cobra.Command{
		Use:   "token",
		Short: "Show the token that agents need for mcp serve --http, or give each its own",
		Long: "Shows the token that agents send as \"Authorization: Bearer TOKEN\" to mcp serve --http. The first\n" +
			"use makes it. AAI_HTTP_TOKEN in the environment replaces it. All agents that share it are one caller\n" +
			"to the gateway; with its own token (add) each has consents, limits and aliases of its own.",
		RunE: func(*cobra.Command, []string) error {
			value, err := r.cfg.HTTPToken(r.flags, rotate)
			if err != nil {
				return err
			}
			return r.showToken(map[string]string{"token": value}, value)
		},
	}
	token.Flags().BoolVar(&rotate, "rotate", false, "make a new one; servers that run go on with the old one until they start anew")
	token.AddCommand(newTokenAdd(r), newTokenList(r), newTokenRevoke(r))
	return token
}

func (r *run) showToken(data map[string]string, token string) error {
	return r.output.show(data, func() error {
		r.output.raw(token + "\n")
		return nil
	})
}

func newTokenAdd(r *run) *cobra.Command {
	return &cobra.Command{
		Use:   "add <name>",
		Short: "Make a token for one agent; it is shown once",
		Long: "Makes a token for one agent and shows it only once. Running servers accept it at once. The\n" +
			"agent's consents belong to its identity, http:<name>.",
		Args: operands(1, 1),
		RunE: r.withTokens(func(tokens Tokens, args []string) error {
			token, err := tokens.Add(args[0])
			if err != nil {
				return err
			}
			return r.showToken(map[string]string{"name": args[0], "token": token}, token)
		}),
	}
}

func newTokenList(r *run) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the names of the tokens",
		RunE: r.withTokens(func(tokens Tokens, _ []string) error {
			list, err := tokens.List()
			if err != nil {
				return err
			}
			return r.output.show(list, func() error {
				rows := make([][]string, len(list))
				for i, token := range list {
					rows[i] = []string{token.Name, token.Identity, r.output.shownTime(token.CreatedAt.Format(time.RFC3339))}
				}
				r.output.table([]string{"NAME", "IDENTITY", "SINCE"}, rows)
				if len(list) == 0 {
					r.output.note("No agent has a token of its own.")
				}
				return nil
			})
		}),
	}
}

func newTokenRevoke(r *run) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke <name>",
		Short: "Revoke an agent's token",
		Args:  operands(1, 1),
		RunE: r.withTokens(func(tokens Tokens, args []string) error {
			if err := tokens.Revoke(args[0]); err != nil {
				return err
			}
			return r.output.show(map[string]string{"revoked": args[0]}, func() error {
				r.output.say("Revoked the token %q. Its name is not used again; consent revoke --identity http:%s revokes its consents.", args[0], args[0])
				return nil
			})
		}),
	}
}

// withTokens returns the RunE of a command that needs the tokens.
func (r *run) withTokens(do func(Tokens, []string) error) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) error {
		tokens, err := r.cfg.HTTPTokens(r.flags)
		if err != nil {
			return err
		}
		return do(tokens, args)
	}
}
