package policy

import (
	"context"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

// An Authenticator verifies that the person in control of the gateway's permissions is
// present. It is safe for concurrent use.
type Authenticator interface {
	// Method returns the current method: aai.DesktopDialog if the person has a screen,
	// aai.Passphrase if there is only a passphrase, or "" if there is neither.
	Method(ctx context.Context) aai.Channel
	// CheckPassphrase returns an error if typed is not the passphrase. It limits attempts.
	CheckPassphrase(ctx context.Context, typed string) error
}

// A riskLevel is the risk of a permission.
type riskLevel int

const (
	readsOnly    riskLevel = iota // R0
	reversible                    // R1
	irreversible                  // R2: sends, deletes, pays, starts programs, or unknown
)

// riskOf returns the risk of the permission, which may cover more than the current tool:
// with permission to act in a window a caller may click anything there.
func riskOf(r *aai.Request, permission string) riskLevel {
	if !r.App.OperatesOthers() {
		if t := r.App.Tool(permission); t != nil {
			return riskOfTool(t)
		}
		return irreversible
	}
	if permission == aai.PermissionSee {
		return readsOnly
	}
	return irreversible
}

// riskOfTool returns the risk of an app's tool. Starting a program is R2 even if the tool
// declares a lesser effect: that effect describes the running program.
func riskOfTool(t *aai.Tool) riskLevel {
	if t.Assessment(nil).MayStartProgram {
		return irreversible
	}
	switch t.Effect {
	case aai.Reads:
		return readsOnly
	case aai.Changes:
		return reversible
	case aai.Destroys:
	}
	return irreversible
}

// channels returns the channels for asking about the permission, best first. They include
// the MCP client only if the person trusts it for this caller, and only for local tools
// below irreversible: its answer may come from a program.
func (c *Consent) channels(r *aai.Request, permission string) []aai.Channel {
	if riskOf(r, permission) < irreversible && c.trustsClient(r.Call.Caller) && !fromTheWeb(r.App) {
		return append([]aai.Channel{aai.Client}, c.availableChannels()...)
	}
	return c.availableChannels()
}

// availableChannels returns the channels to the person. If a method of reauthentication
// works, it is the only one, because a program can type at a terminal.
func (c *Consent) availableChannels() []aai.Channel {
	if c.authenticator == nil {
		return []aai.Channel{aai.DesktopDialog, aai.Terminal}
	}
	if way := c.authenticator.Method(context.Background()); way == aai.DesktopDialog && c.dialogUnavailable() {
		return []aai.Channel{aai.DesktopDialog, aai.Terminal}
	} else if way != "" {
		return []aai.Channel{way}
	}
	return []aai.Channel{aai.Terminal}
}

// allowsOnlyOnce reports whether an answer may be valid for this call only, because it
// would come from a terminal without reauthentication.
func (c *Consent) allowsOnlyOnce(r *aai.Request) bool {
	return c.authenticator != nil && r.Call.Caller.Door == aai.DoorCLI && slices.Contains(c.availableChannels(), aai.Terminal)
}

// checkReauth returns an error if the answer needs a passphrase and has a wrong one.
func (c *Consent) checkReauth(a aai.Answer) error {
	if a.Channel != aai.Passphrase || a.Choice == "" || a.Choice == choiceDeny {
		return nil
	}
	return c.authenticator.CheckPassphrase(context.Background(), a.Secret)
}

func (c *Consent) trustsClient(caller aai.Caller) bool {
	return slices.ContainsFunc(c.elicitation, func(who string) bool {
		return who == Wildcard || caller.Identity != "" && who == caller.Identity
	})
}

// fromTheWeb reports whether the app comes from a web site instead of a file on this
// computer. The ID of such an app begins with its host.
func fromTheWeb(app *aai.App) bool { return !app.OperatesOthers() && strings.Contains(app.ID, "/") }

// foreignAnswerError returns the error for an answer to another question.
func foreignAnswerError(cause error) *aai.Error {
	e := aai.Errorf(aai.ConsentRequired, "the answer does not belong to this call: %w", cause)
	e.Hint = "Make the call again without answers, and show its question to the person."
	return e
}
