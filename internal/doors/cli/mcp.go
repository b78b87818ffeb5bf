package cli

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newMCP(r *run) *cobra.Command {
	return newGroup("mcp", "Serve AI agents, and have MCP servers as apps", newServe(r), newToken(r), newServers(r), newServerEnv(r), newServerTrust(r),
		newPins(r), newPin(r), newUnpin(r))
}

// serveFlags are the flags of "mcp serve".
type serveFlags struct {
	stdio, http, sse bool
	profile          string
	session          string
	isolated         SessionOptions
}

// settingOf returns the key of the setting that a flag of "mcp serve" changes.
func settingOf(flag string) (key string, ok bool) {
	keys := map[string]string{
		"port": "http.port", "bind": "http.bind", "sse": "http.sse", "http-auth": "http.auth",
		toolNamesFlag: "toolNames", "issuer": "http.issuer", "audience": "http.audience", "scope": "http.scopes",
	}
	key, ok = keys[flag]
	return key, ok
}

func newServe(r *run) *cobra.Command {
	var f serveFlags
	profile := &enumFlag{value: &f.profile, allowed: []string{"apps", "desktop", "all"}}
	auth := &enumFlag{value: new(string), allowed: []string{"token", "oauth", "none"}}
	serve := &cobra.Command{
		Use:   "serve [--http [PORT]]",
		Short: "Serve AI agents over MCP, on standard input and output or over HTTP",
		Long: "Serves one AI agent on standard input and output, or with --http any number of them on\n" +
			"http://127.0.0.1:8741/mcp. Clients over HTTP need the token that \"mcp token\" shows.",
		Args: operands(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return r.serveAs(cmd, f, args) },
	}
	flags := serve.Flags()
	flags.Var(profile, "profile", "the tools to list: apps, desktop (the ax_ tools), or all")
	complete(serve, "profile", profile.allowed...)
	flags.BoolVar(&f.stdio, "stdio", false, "on standard input and output, as without a flag")
	flags.BoolVar(&f.http, "http", false, "over Streamable HTTP")
	flags.BoolVar(&f.sse, "sse", false, "over HTTP, for clients of protocol version 2024-11-05 too, on /sse")
	addToolNames(serve)
	flags.String("port", "", "listen on this `port`; 0 means any that is free")
	flags.String("bind", "", "listen on this `address`; other computers can reach all but 127.0.0.1")
	flags.Var(auth, "http-auth", "the authentication of clients: token, oauth (a token of --issuer), or none")
	complete(serve, "http-auth", auth.allowed...)
	flags.String("issuer", "", "the `URL` of the OAuth authorization server")
	flags.StringSlice("audience", nil, "the audience that tokens must have; the server's own address if not given")
	flags.StringSlice("scope", nil, "a `scope` that tokens must have")
	if r.cfg.RunSession != nil {
		mode := &enumFlag{value: &f.session, allowed: []string{sessionOwn, sessionIsolated}}
		flags.Var(mode, "session", "where the apps are: own (your desktop) or isolated (an invisible desktop that ends with the gateway; with --http one for each conversation)")
		complete(serve, "session", mode.allowed...)
		addSessionFlags(flags, &f.isolated)
	}
	return serve
}

// toolNamesFlag selects the form of tool names for agents.
const toolNamesFlag = "tool-names"

func addToolNames(cmd *cobra.Command) {
	names := &enumFlag{value: new(string), allowed: []string{"safe", "canonical"}}
	cmd.Flags().Var(names, toolNamesFlag, "how tools are named: safe (letters that every model takes) or canonical (as the protocol has it)")
	complete(cmd, toolNamesFlag, names.allowed...)
}

// toolNames returns the change of settings for --tool-names, if the flag is set.
func toolNames(cmd *cobra.Command) []Change {
	flag := cmd.Flags().Lookup(toolNamesFlag)
	if flag == nil || !flag.Changed {
		return nil
	}
	return []Change{{Key: "toolNames", Value: flag.Value.String(), Flag: "--" + toolNamesFlag}}
}

// serveAs serves agents as the flags determine.
func (r *run) serveAs(cmd *cobra.Command, f serveFlags, args []string) error {
	o := ServeOptions{Profile: f.profile, HTTP: f.http || f.sse}
	if f.stdio && o.HTTP {
		return usage(cmd, "--stdio and --http are two ways to serve; give one of them")
	}
	if err := f.checkSession(cmd); err != nil {
		return err
	}
	if f.session == sessionIsolated {
		o.Session = &f.isolated
	}
	var stray string
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		key, ok := settingOf(flag.Name)
		if !ok {
			return
		}
		if !o.HTTP && flag.Name != toolNamesFlag {
			stray = "--" + flag.Name
		}
		o.Changes = append(o.Changes, Change{Key: key, Value: flagValue(flag), Flag: "--" + flag.Name})
	})
	switch {
	case stray != "":
		return usage(cmd, "%s is for serving over HTTP; give --http too", stray)
	case len(args) > 0 && (!f.http || cmd.Flags().Changed("port")):
		return operands(0, 0)(cmd, args)
	case len(args) > 0:
		o.Changes = append(o.Changes, Change{Key: "http.port", Value: args[0], Flag: "--http"})
	}
	return r.serve(cmd.Context(), o)
}

// checkSession checks the flags of an isolated session.
func (f serveFlags) checkSession(cmd *cobra.Command) error {
	if f.session == sessionIsolated && (f.sse || f.http && f.isolated.Keep != "") {
		return usage(cmd, "--session isolated gives each conversation a desktop; --sse and, with --http, --keep are not possible beside it")
	}
	for _, name := range sessionFlagNames() {
		if f.session != sessionIsolated && cmd.Flags().Changed(name) {
			return usage(cmd, "--%s is for an isolated session; give --session isolated too", name)
		}
	}
	return nil
}

// flagValue returns a flag's value in the types of a configuration file.
func flagValue(flag *pflag.Flag) any {
	list, ok := flag.Value.(pflag.SliceValue)
	if !ok {
		return flag.Value.String()
	}
	var values []any
	for _, v := range list.GetSlice() {
		values = append(values, v)
	}
	return values
}

// serve serves agents. On a terminal it explains why the command seems to hang.
func (r *run) serve(ctx context.Context, o ServeOptions) error {
	if r.output.terminal.Ask != nil && !o.HTTP {
		r.output.note("Serving MCP: waiting for an agent on standard input. To connect your agent: " + program + " install. For all commands: " + program + " help")
	}
	o.Profile = cmp.Or(o.Profile, r.cfg.Profile)
	return r.cfg.ServeMCP(ctx, r.flags, o)
}
