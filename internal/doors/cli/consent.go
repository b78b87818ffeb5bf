package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
)

func newConsent(r *run) *cobra.Command {
	return newGroup("consent", "Show, grant and revoke the consents of callers", newConsentList(r), newConsentGrant(r), newConsentRevoke(r), newConsentTakeover(r), newConsentDrop(r),
		newConsentConfirm(r), newConsentPassphrase(r))
}

func newConsentList(r *run) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List stored consents and refusals"}
	return r.newToolCommand(cmd, toolCommand{tool: "consent_list", show: inRows(showConsents)})
}

func showConsents(r *run, s *answerTable, c *toolCall) {
	byName, aside := 0, 0
	r.output.showAnswerTable(s, map[string]func(*jsonNode) string{"decision": func(consent *jsonNode) string {
		if memberText(consent, "takeover") == "" {
			return ""
		}
		aside++
		return "nothing yet"
	}, "identity": func(consent *jsonNode) string {
		if !isTrue(consent, "by_name") || memberText(consent, "takeover") != "" {
			return ""
		}
		byName++
		return "by name alone"
	}}, nil)
	if byName > 0 {
		r.output.note(fmt.Sprintf("%d of them name a caller without an identity; any caller can use that name: they allow nothing.\n"+
			"Assign or delete them with consent takeover or consent drop; those of the configuration need an identity there.", byName))
	}
	if aside > 0 {
		r.output.note(fmt.Sprintf("%d of them are in a plain file without proof that you wrote it: they allow nothing.\n"+
			"Take over those that you know (consent takeover --file), or remove the file.", aside))
	}
	if len(s.rows) == 0 {
		r.output.note("No consent is stored yet. Consents for a session are not listed; consent revoke --all ends them.")
	}
	if c.result.Warning != "" {
		r.output.note(c.result.Warning)
	}
}

// everyCaller and everyTool match every caller and every tool in the gateway's tools.
const (
	everyCaller = "*"
	everyTool   = "*"
)

func newConsentGrant(r *run) *cobra.Command {
	return r.newToolCommand(&cobra.Command{
		Use:   "grant <app> <tool>... --caller <name> --identity <identity>",
		Short: "Let a caller use tools of an app without asking again",
		Long: "Lets a caller use tools of an app without asking again. --all means the tools that\n" +
			"the app has now; a tool that it gets later asks again. The windows of a running program\n" +
			"are the app desktop/<program>, with the tools see and act. The tool start is for installed programs.\n" +
			"A caller chooses its name itself; its refusals and the record show its verified identity.",
		Example: "  aai-gateway consent grant org.example.notes add list --caller mcp:claude-code --identity /usr/bin/claude --expires 30d\n" +
			"  aai-gateway consent grant org.example.notes --all --caller '*'\n" +
			"  aai-gateway consent grant desktop/mousepad see act --identity http:work",
		ValidArgsFunction: r.completeAppTool,
	}, toolCommand{
		tool: "consent_grant", operands: "app [tools]...", prepare: prepareGrant, show: showGranted,
		flags: []toolFlag{
			{"caller", "", "the caller's `name`, such as mcp:claude-code, or '*' for any caller"},
			{"identity", "", "the caller's verified `identity`, such as '/usr/bin/node /opt/agent/cli.js', or http:NAME for a token"},
			{"expires", "", "until `when`: 12h, 30d or RFC 3339; without it, until revoked"},
			{"all=", false, "every tool that the app has now"},
			{"yes=", false, "has no effect: you are asked in a window or for your passphrase in any case"},
		},
	})
}

// prepareGrant names the tools of a grant, and its end as an RFC 3339 time.
func prepareGrant(c *toolCall) error {
	dropEmpty(c)
	tools, _ := c.args["tools"].([]any)
	switch all := c.isSet("all"); {
	case c.args["caller"] == nil && c.args["identity"] == nil:
		return usage(c.cmd, "give --identity or --caller: the caller to allow, or '*' for any")
	case all && len(tools) > 0:
		return usage(c.cmd, "give tools or --all, not both")
	case !all && len(tools) == 0:
		return usage(c.cmd, "name the tools to allow, or give --all for every tool the app has now")
	case all:
		tools = []any{everyTool}
	}
	if len(tools) == 1 {
		delete(c.args, "tools")
		c.args["tool"] = tools[0]
	}
	text, _ := c.args["expires"].(string)
	expires, err := parseInstant("expires", text, 1)
	if err != nil {
		return usage(c.cmd, "%v", err)
	}
	if at, err := time.Parse(time.RFC3339, expires); err == nil && !at.After(time.Now()) {
		return usage(c.cmd, "--expires %s: expected a time in the future", expires)
	}
	if expires != "" {
		c.args["expires"] = expires
	}
	return nil
}

// showGranted shows the arguments of a grant.
func showGranted(r *run, c *toolCall) error {
	return r.output.show(map[string]any{"granted": c.args}, func() error {
		g, err := decodeView[struct {
			App, Tool, Caller, Identity, Expires string
			Tools                                []string
		}](c.args)
		if err != nil {
			return err
		}
		tools, until := strings.Join(g.Tools, ", "), " until it is revoked"
		switch g.Tool {
		case "":
		case everyTool:
			tools = "EVERY tool"
		default:
			tools = g.Tool
		}
		if g.Expires != "" {
			until = " until " + g.Expires
		}
		r.output.say("Allowed %s to use %s of %s%s.", callerWords(g.Caller, g.Identity), tools, g.App, until)
		return nil
	})
}

func callerWords(caller, identity string) string {
	switch {
	case identity == "" && caller == everyCaller:
		return "ANY caller"
	case identity == "":
		return fmt.Sprintf("%q", caller)
	case caller == "" || caller == everyCaller:
		return fmt.Sprintf("%q, whatever it calls itself,", identity)
	}
	return fmt.Sprintf("%q, when it calls itself %q,", identity, caller)
}

func newConsentRevoke(r *run) *cobra.Command {
	return r.newToolCommand(&cobra.Command{
		Use:               "revoke [app [tool]]",
		Short:             "Revoke consents, so that the next call asks again",
		Example:           "  aai-gateway consent revoke org.example.notes\n  aai-gateway consent revoke --caller mcp:claude-code",
		ValidArgsFunction: r.completeAppTool,
	}, toolCommand{
		tool: "consent_revoke", operands: "[app] [tool]",
		flags: []toolFlag{
			{"caller", "", "only the consents of this `caller`"},
			{"identity", "", "only the consents of this verified `identity`"},
			{"all=", false, "all consents and refusals"},
			{"yes=", false, "do not ask; needed where there is no terminal"},
		},
		prepare: func(c *toolCall) error {
			if c.isSet("all") == (len(c.args) > 0) {
				return usage(c.cmd, "name the consents to revoke: an app, --caller, --identity, or --all alone for everything")
			}
			dropEmpty(c)
			return r.confirmForget(c.cmd.Context(), revokeQuestion(c.args), c.isSet("yes"))
		},
		show: decoded(func(r *run, done struct{ Revoked int }, _ *toolCall) {
			r.output.say("Revoked: %d. Consents for a session have ended too.", done.Revoked)
		}),
	})
}

func revokeQuestion(args map[string]any) string {
	what := "all consents and refusals"
	if app, given := args["app"]; given {
		what += fmt.Sprintf(" for %s", app)
	}
	if tool, given := args["tool"]; given {
		what += fmt.Sprintf(", tool %s", tool)
	}
	if caller := cmp.Or(args["identity"], args["caller"]); caller != nil {
		what += fmt.Sprintf(", for %q", caller)
	}
	return "Revoke " + what + "?"
}

// confirmForget asks the person at the terminal to confirm a deletion. Where there is no
// terminal, --yes states that a person decided it before. This prevents mistakes and proves
// nothing: authentication is the gateway's task.
func (r *run) confirmForget(ctx context.Context, question string, yes bool) error {
	if yes {
		return nil
	}
	if r.output.terminal.Ask == nil {
		e := aai.Errorf(aai.PermissionDenied, "only a person may change consents, and there is no terminal to ask at")
		e.Hint = "Run this at a terminal, or give --yes if a person decided it."
		return e
	}
	confirmed, err := r.confirm(ctx, question)
	if err != nil {
		return err
	}
	if !confirmed {
		return aai.Errorf(aai.PermissionDenied, "not confirmed; nothing was changed")
	}
	return nil
}

func newConsentTakeover(r *run) *cobra.Command {
	return r.newToolCommand(&cobra.Command{
		Use:   "takeover [app [tool]] (--caller <name> --identity <identity> | --file)",
		Short: "Assign consents stored by a name alone to an identity, or seal those of a plain file",
		Long: "Assigns consents and refusals stored by a caller's name alone, before callers had identities,\n" +
			"to an identity. With --file it seals the consents of the plain file consent.json, which\n" +
			"may be from a time without a keychain. Until then they allow nothing; consent list marks them.",
		Example: "  aai-gateway consent takeover --caller mcp:claude-code --identity '/usr/bin/node /opt/claude/cli.js'\n" +
			"  aai-gateway consent takeover org.example.notes --file",
		ValidArgsFunction: r.completeAppTool,
	}, toolCommand{
		tool: "consent_takeover", operands: "[app] [tool]",
		flags: []toolFlag{
			{"caller", "", "the `name`, as consent list shows it"},
			{"identity", "", "the verified `identity`, as questions and refusals show it"},
			{"file=", false, "the consents of the plain file consent.json"},
		},
		prepare: func(c *toolCall) error {
			dropEmpty(c)
			caller, identity := c.args["caller"] != nil, c.args["identity"] != nil
			switch {
			case c.isSet("file") && (caller || identity):
				return usage(c.cmd, "--file goes with neither --caller nor --identity")
			case c.isSet("file"):
				return r.nameUnverified(c)
			case !caller || !identity:
				return usage(c.cmd, "give --caller and --identity: the name, and the identity that used it; or --file")
			}
			return nil
		},
		show: decoded(func(r *run, done struct{ Taken int }, _ *toolCall) { r.output.say("Taken over: %d.", done.Taken) }),
	})
}

// nameUnverified replaces the arguments by the names of the consents of a plain file that they select.
func (r *run) nameUnverified(c *toolCall) error {
	listed, err := r.callBuiltin(c.cmd.Context(), "consent_list", nil)
	if err != nil {
		return err
	}
	s, err := r.readTable(c.cmd.Context(), "consent_list", listed.Data)
	if err != nil {
		return err
	}
	var named []any
	for _, consent := range s.rows {
		name := memberText(consent, "takeover")
		isMeant := func(member string) bool {
			wanted, given := c.args[member]
			return !given || wanted == memberText(consent, member)
		}
		if name != "" && isMeant("app") && isMeant("tool") {
			r.output.note(aai.CleanLabel(name, maxLine))
			named = append(named, name)
		}
	}
	if len(named) == 0 {
		return aai.Errorf(aai.InvalidParams, "no such consent in a plain file can be taken over")
	}
	c.args = map[string]any{"file": named}
	return nil
}

func newConsentDrop(r *run) *cobra.Command {
	return r.newToolCommand(&cobra.Command{
		Use:               "drop [app [tool]]",
		Short:             "Delete consents stored by a name alone",
		Example:           "  aai-gateway consent drop\n  aai-gateway consent drop --caller mcp:claude-code",
		ValidArgsFunction: r.completeAppTool,
	}, toolCommand{
		tool: "consent_drop", operands: "[app] [tool]", flags: []toolFlag{{"caller", "", "only for this `name`"}},
		prepare: func(c *toolCall) error {
			dropEmpty(c)
			return nil
		},
		show: decoded(func(r *run, done struct{ Dropped int }, _ *toolCall) { r.output.say("Dropped: %d.", done.Dropped) }),
	})
}
