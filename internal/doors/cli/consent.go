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
	return &cobra.Command{
		Use:   "list",
		Short: "List stored consents and refusals",
		RunE:  func(cmd *cobra.Command, _ []string) error { return r.consentList(cmd.Context()) },
	}
}

func (r *run) consentList(ctx context.Context) error {
	return r.showRows(ctx, "consent_list", nil, func(s *answerTable, result *aai.Result) error {
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
		if result.Warning != "" {
			r.output.note(result.Warning)
		}
		return nil
	})
}

// everyCaller and everyTool match every caller and every tool in the gateway's tools.
const (
	everyCaller = "*"
	everyTool   = "*"
)

// consentFlags are the flags that granting and revoking share.
type consentFlags struct {
	caller   string
	identity string
	expires  string
	all, yes bool
}

func newConsentGrant(r *run) *cobra.Command {
	var f consentFlags
	cmd := &cobra.Command{
		Use:   "grant <app> <tool>... --caller <name> --identity <identity>",
		Short: "Let a caller use tools of an app without asking again",
		Long: "Lets a caller use tools of an app without asking again. --all means the tools that\n" +
			"the app has now; a tool that it gets later asks again. The windows of a running program\n" +
			"are the app desktop/<program>, with the tools see and act. The tool start is for installed programs.\n" +
			"A caller chooses its name itself; its refusals and the record show its verified identity.",
		Example: "  aai-gateway consent grant org.example.notes add list --caller mcp:claude-code --identity /usr/bin/claude --expires 30d\n" +
			"  aai-gateway consent grant org.example.notes --all --caller '*'\n" +
			"  aai-gateway consent grant desktop/mousepad see act --identity http:work",
		Args:              operands(1, -1),
		ValidArgsFunction: r.completeAppTool,
		RunE: func(cmd *cobra.Command, args []string) error {
			expires, err := f.checkGrant(cmd, args[1:])
			if err != nil {
				return err
			}
			tools := args[1:]
			if f.all {
				tools = []string{everyTool}
			}
			return r.consentGrant(cmd.Context(), grant{args[0], tools, f.caller, f.identity, expires})
		},
	}
	cmd.Flags().StringVar(&f.caller, "caller", "", "the caller's `name`, such as mcp:claude-code, or '*' for any caller")
	cmd.Flags().StringVar(&f.identity, "identity", "", "the caller's verified `identity`, such as '/usr/bin/node /opt/agent/cli.js', or http:NAME for a token")
	cmd.Flags().StringVar(&f.expires, "expires", "", "until `when`: 12h, 30d or RFC 3339; without it, until revoked")
	cmd.Flags().BoolVar(&f.all, "all", false, "every tool that the app has now")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "has no effect: you are asked in a window or for your passphrase in any case")
	return cmd
}

// checkGrant returns the end of the grant as an RFC 3339 time.
func (f *consentFlags) checkGrant(cmd *cobra.Command, tools []string) (string, error) {
	switch {
	case f.caller == "" && f.identity == "":
		return "", usage(cmd, "give --identity or --caller: the caller to allow, or '*' for any")
	case f.all && len(tools) > 0:
		return "", usage(cmd, "give tools or --all, not both")
	case !f.all && len(tools) == 0:
		return "", usage(cmd, "name the tools to allow, or give --all for every tool the app has now")
	}
	expires, err := parseInstant("expires", f.expires, 1)
	if err != nil {
		return "", usage(cmd, "%v", err)
	}
	if at, err := time.Parse(time.RFC3339, expires); err == nil && !at.After(time.Now()) {
		return "", usage(cmd, "--expires %s: expected a time in the future", expires)
	}
	return expires, nil
}

// grant is a consent that a person is about to give.
type grant struct {
	app      string
	tools    []string
	caller   string
	identity string
	expires  string
}

func (g grant) String() string {
	return fmt.Sprintf("%s to use %s of %s%s", callerWords(g.caller, g.identity), toolWords(g.tools), g.app, g.until())
}

func (g grant) until() string {
	if g.expires == "" {
		return " until it is revoked"
	}
	return " until " + g.expires
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

func toolWords(tools []string) string {
	if len(tools) == 1 && tools[0] == everyTool {
		return "EVERY tool"
	}
	return strings.Join(tools, ", ")
}

// consentGrant asks the gateway for the grant; the gateway itself authenticates the person.
func (r *run) consentGrant(ctx context.Context, g grant) error {
	args := nonEmpty(map[string]string{"app": g.app, "caller": g.caller, "identity": g.identity, "expires": g.expires})
	if len(g.tools) == 1 {
		args["tool"] = g.tools[0]
	} else {
		tools := make([]any, len(g.tools))
		for i, tool := range g.tools {
			tools[i] = tool
		}
		args["tools"] = tools
	}
	if _, err := r.callBuiltin(ctx, "consent_grant", args); err != nil {
		return err
	}
	return r.output.show(map[string]any{"granted": args}, func() error {
		r.output.say("Allowed %s.", g)
		return nil
	})
}

func newConsentRevoke(r *run) *cobra.Command {
	var f consentFlags
	cmd := &cobra.Command{
		Use:               "revoke [app [tool]]",
		Short:             "Revoke consents, so that the next call asks again",
		Example:           "  aai-gateway consent revoke org.example.notes\n  aai-gateway consent revoke --caller mcp:claude-code",
		Args:              operands(0, 2),
		ValidArgsFunction: r.completeAppTool,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.all == (len(args) > 0 || f.caller != "" || f.identity != "") {
				return usage(cmd, "name the consents to revoke: an app, --caller, --identity, or --all alone for everything")
			}
			return r.consentRevoke(cmd.Context(), append(args, "", "")[:2], f)
		},
	}
	cmd.Flags().StringVar(&f.caller, "caller", "", "only the consents of this `caller`")
	cmd.Flags().StringVar(&f.identity, "identity", "", "only the consents of this verified `identity`")
	cmd.Flags().BoolVar(&f.all, "all", false, "all consents and refusals")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "do not ask; needed where there is no terminal")
	return cmd
}

func (r *run) consentRevoke(ctx context.Context, appTool []string, f consentFlags) error {
	args := nonEmpty(map[string]string{"app": appTool[0], "tool": appTool[1], "caller": f.caller, "identity": f.identity})
	if err := r.confirmForget(ctx, revokeQuestion(appTool[0], appTool[1], cmp.Or(f.identity, f.caller)), f.yes); err != nil {
		return err
	}
	return r.showAnswer(ctx, "consent_revoke", args, func(result *aai.Result) error {
		done, err := decodeView[struct {
			Revoked int `json:"revoked"`
		}](result.Data)
		if err != nil {
			return err
		}
		r.output.say("Revoked: %d. Consents for a session have ended too.", done.Revoked)
		return nil
	})
}

func revokeQuestion(app, tool, caller string) string {
	what := "all consents and refusals"
	if app != "" {
		what = "all consents and refusals for " + app
	}
	if tool != "" {
		what += ", tool " + tool
	}
	if caller != "" {
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
