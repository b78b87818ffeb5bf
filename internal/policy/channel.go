package policy

import (
	"context"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

// A Person is whoever may say what the gateway lets others do, and how they can prove
// at this moment that it is they. It is safe for concurrent use.
type Authenticator interface {
	// Method is how: aai.Native where they have a screen, aai.Passphrase where they have
	// none and set one, and "" where nothing is proved by anything.
	Method(ctx context.Context) aai.Channel
	// CheckPassphrase says why what was typed is not the passphrase. It bounds tries.
	CheckPassphrase(ctx context.Context, typed string) error
}

// The risks of what a person may be asked to allow.
type riskLevel int

const (
	readsOnly    riskLevel = iota // R0
	reversible                    // R1
	irreversible                  // R2: sends, deletes, pays, starts programs, or nobody said what
)

// riskOf is the risk of the permission, which may cover more than the tool that
// needs it now: who may act in a window may click on anything there.
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

// riskOfTool is the risk of an app's tool. To start a program is R2, whatever the tool
// says of its effect: that is said of what it does once the program runs.
func riskOfTool(t *aai.Tool) riskLevel {
	if t.MayStartProgram {
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

// channels are the ways in which the permission may be asked for, best first. The
// client is one only where a person said so for this caller, and only for what
// can be changed back: what comes back from there is a program's word.
func (c *Consent) channels(r *aai.Request, permission string) []aai.Channel {
	if riskOf(r, permission) < irreversible && c.trustsClient(r.Call.Caller) && !fromTheWeb(r.App) {
		return append([]aai.Channel{aai.Client}, c.availableChannels()...)
	}
	return c.availableChannels()
}

// availableChannels are how a person may be asked. Where they can prove that it is they, nothing
// less will do: what is typed at a terminal may be typed by a program.
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

// allowsOnlyOnce reports whether an answer may hold for this call alone: it would be given at
// a terminal, by somebody who can prove nothing.
func (c *Consent) allowsOnlyOnce(r *aai.Request) bool {
	return c.authenticator != nil && r.Call.Caller.Door == aai.DoorCLI && slices.Contains(c.availableChannels(), aai.Terminal)
}

// checkReauth says why an answer is not the person's, where a passphrase has to prove it.
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

// fromTheWeb reports whether nobody placed the app on this computer. The id of one
// from the web begins with its host.
func fromTheWeb(app *aai.App) bool { return !app.OperatesOthers() && strings.Contains(app.ID, "/") }

// foreignAnswer is the error of an answer to another question.
func foreignAnswer(cause error) *aai.Error {
	e := aai.Errorf(aai.ConsentRequired, "the answer does not belong to this call: %w", cause)
	e.Hint = "Make the call again without answers, and put its question to the person."
	return e
}
