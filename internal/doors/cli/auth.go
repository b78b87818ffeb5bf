package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/gateway"
)

func newAuth(r *run) *cobra.Command {
	return newGroup("auth", "Log in to web apps, and out", newAuthLogin(r), newAuthLogout(r), newAuthStatus(r))
}

// authFlags are the flags of "auth login".
type authFlags struct {
	clientID string
	login    string
	secret   bool
	trust    []string
}

func newAuthLogin(r *run) *cobra.Command {
	var f authFlags
	cmd := &cobra.Command{
		Use:   "login <host>",
		Short: "Log in to a web app, or give it a key",
		Long: "Logs you in to the web app of a site, or an app of this computer that is on the web:\n" +
			"in your browser, or with a code where there is none. An app that wants a key or cookies\n" +
			"asks for them here and does not show your input. Agents never see it.",
		Example: "  aai-gateway auth login example.com\n  aai-gateway auth login example.com --client-id 0oa1x --client-secret",
		Args:    operands(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.secret && f.clientID == "" {
				return usage(cmd, "--client-secret needs --client-id")
			}
			return r.authLogin(cmd, args[0], f)
		},
	}
	cmd.Flags().StringVar(&f.clientID, "client-id", "", "how the authorization server knows this gateway, if you registered it there")
	cmd.Flags().StringVar(&f.login, "login", "", "the `name` of the login, in an app of several")
	cmd.Flags().BoolVar(&f.secret, "client-secret", false, "ask for the secret that goes with it")
	cmd.Flags().StringArrayVar(&f.trust, "trust", nil, "a `host` of another site that may take part in the login")
	return cmd
}

func (r *run) authLogin(cmd *cobra.Command, app string, f authFlags) error {
	ctx := cmd.Context()
	args := map[string]any{"app": app}
	if f.login != "" {
		args["login"] = f.login
	}
	about, err := r.aboutLogin(ctx, args)
	if err != nil {
		return err
	}
	trust, err := r.askTrustedHosts(ctx, about, f.trust)
	if err != nil {
		return err
	}
	if len(trust) > 0 {
		args["trust"] = trust
	}
	if f.clientID != "" {
		args["client_id"] = f.clientID
	}
	if f.secret {
		if args["client_secret"], err = r.readSecret(ctx, "Client secret: "); err != nil {
			return err
		}
	}
	if len(about.Asks) > 0 {
		if args["secret"], err = r.askFields(ctx, about); err != nil {
			return err
		}
	}
	r.showsOwnProgress = true
	cmd.SetContext(gateway.WithProgress(ctx, r.announcer()))
	return r.callAndShow(&toolCall{cmd: cmd, tool: "auth_login", args: args}, inText(func(r *run, _ *toolCall) error {
		if len(about.Asks) > 0 {
			r.output.say("Kept for %s.", aai.CleanLabel(about.Host, maxLine))
		} else {
			r.output.say("Logged in to %s.", aai.CleanLabel(about.Host, maxLine))
		}
		if len(about.Further) > 0 && f.login == "" {
			r.output.note("Other tools of it need a login of their own: --login " + strings.Join(about.Further, ", --login "))
		}
		return nil
	}))
}

func (r *run) aboutLogin(ctx context.Context, args map[string]any) (answer.LoginReport, error) {
	result, err := r.callBuiltin(ctx, "auth_status", maps.Clone(args))
	if err != nil {
		return answer.LoginReport{}, err
	}
	return decodeView[answer.LoginReport](result.Data)
}

// announcer returns a progress function that notes each stage of the login once.
func (r *run) announcer() func(done, total float64, message string) {
	said := make(chan string, 1)
	said <- ""
	return func(_, _ float64, message string) {
		last := <-said
		if message != last {
			r.output.note(message)
		}
		said <- message
	}
}

// askTrustedHosts returns the hosts of other sites to trust: those in named, and those that
// the person confirms now. Without a terminal it omits the others, and the login fails.
func (r *run) askTrustedHosts(ctx context.Context, about answer.LoginReport, named []string) ([]any, error) {
	var trust []any
	for _, host := range about.Untrusted {
		if !slices.Contains(named, host) {
			if r.output.terminal.Ask == nil {
				continue
			}
			question := fmt.Sprintf("The app of %s sends logins or calls to %s, which is another site. Do you trust it with them?", about.Host, host)
			agreed, err := r.confirm(ctx, question)
			if err != nil {
				return nil, err
			}
			if !agreed {
				return nil, aai.Errorf(aai.PermissionDenied, "not confirmed; nothing was changed")
			}
		}
		trust = append(trust, host)
	}
	return trust, nil
}

// askFields asks the person for each secret field of the app in turn.
func (r *run) askFields(ctx context.Context, about answer.LoginReport) (map[string]any, error) {
	if r.output.terminal.Secret == nil {
		e := aai.Errorf(aai.PermissionDenied, "%s wants a key, and there is no terminal to type it at", aai.CleanLabel(about.Host, maxLine))
		e.Hint = "Run this at a terminal."
		return nil, e
	}
	if about.Instructions != "" {
		r.output.note(fmt.Sprintf("The app says: %q", aai.CleanLabel(about.Instructions, maxQuestion)))
	}
	if about.ObtainURL != "" {
		r.output.note("You get it at " + aai.CleanLabel(about.ObtainURL, maxQuestion))
	}
	given := make(map[string]any, len(about.Asks))
	for _, field := range about.Asks {
		typed, err := r.readSecret(ctx, fmt.Sprintf("%s for %s (not shown): ", capitalize(aai.CleanLabel(field.Label, 80)), aai.CleanLabel(about.Host, maxLine)))
		if err != nil {
			return nil, err
		}
		given[field.Name] = typed
	}
	return given, nil
}

func capitalize(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// readSecret asks for a secret without echo.
func (r *run) readSecret(ctx context.Context, prompt string) (string, error) {
	if r.output.terminal.Secret == nil {
		e := aai.Errorf(aai.PermissionDenied, "there is no terminal to type a secret at")
		e.Hint = "Run this at a terminal."
		return "", e
	}
	typed, err := r.output.terminal.Secret(ctx, prompt)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if typed = strings.TrimSpace(typed); err == nil && typed == "" {
		err = aai.Errorf(aai.InvalidParams, "nothing was typed; nothing was changed")
	}
	return typed, err
}

func newAuthLogout(r *run) *cobra.Command {
	return r.newToolCommand(&cobra.Command{
		Use:   "logout <host>",
		Short: "Log out of a web app, and delete its tokens and keys",
	}, toolCommand{tool: "auth_logout", operands: "app", show: decoded(func(r *run, bye answer.Logout, _ *toolCall) {
		host := aai.CleanLabel(bye.Host, maxLine)
		if bye.Forgotten == 0 {
			r.output.say("Nothing was stored for %s.", host)
		} else {
			r.output.say("Logged out of %s: %d deleted, %d tokens revoked by their server.", host, bye.Forgotten, bye.Revoked)
		}
		for _, warning := range bye.Warnings {
			r.output.warn(warning)
		}
	})})
}

func newAuthStatus(r *run) *cobra.Command {
	return r.newToolCommand(&cobra.Command{
		Use:   "status [host]",
		Short: "List the web apps that you are logged in to",
	}, toolCommand{tool: "auth_status", operands: "[app]", show: inRows(func(r *run, s *answerTable, _ *toolCall) {
		r.output.showAnswerTable(s, map[string]func(*jsonNode) string{
			"scopes": func(login *jsonNode) string { return wordsOf(login.Member("scopes"), " ") },
			"expires": func(login *jsonNode) string {
				if isTrue(login, "renews") {
					return "renewed when due"
				}
				return ""
			},
		}, nil)
		if len(s.rows) == 0 {
			r.output.note("You are not logged in.")
		}
	})})
}
