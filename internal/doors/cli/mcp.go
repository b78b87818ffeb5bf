package cli

import (
	"context"

	"github.com/spf13/cobra"
)

func newMCP(r *run) *cobra.Command {
	var stdio bool
	profile := &oneOf{value: new(string), allowed: []string{"apps", "desktop", "all"}}
	mcp := &cobra.Command{
		Use:               "mcp",
		Short:             "Serve AI agents",
		Args:              noOperands,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              holder,
	}
	serve := &cobra.Command{
		Use:               "serve",
		Short:             "Serve an AI agent over MCP on standard input and output",
		Args:              operands(0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !stdio {
				return usage(cmd, "standard input and output is the only way to serve that there is")
			}
			return r.serve(cmd.Context(), *profile.value)
		},
	}
	serve.Flags().Var(profile, "profile", "the tools to list: apps, desktop (the ax_ tools), or all")
	complete(serve, "profile", profile.allowed...)
	serve.Flags().BoolVar(&stdio, "stdio", true, "on standard input and output, which is the only way there is")
	mcp.AddCommand(serve)
	return mcp
}

// serve serves one agent. A person who started it by hand is told what it waits
// for.
func (r *run) serve(ctx context.Context, profile string) error {
	if r.output.terminal.Ask != nil {
		r.output.note("Serving MCP: waiting for an agent on standard input. For the commands: " + program + " help")
	}
	return r.cfg.ServeMCP(ctx, r.flags, ServeOptions{Stdio: true, Profile: profile})
}
