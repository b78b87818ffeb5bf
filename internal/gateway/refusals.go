package gateway

import (
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// The errors of Do, each with the next step for the caller.

func toolNotFound(app *aai.App, name string) *aai.Error {
	names := make([]string, len(app.Tools))
	for i, t := range app.Tools {
		names[i] = t.Name
	}
	e := aai.Errorf(aai.ToolNotFound, "%s has no tool %q", app.ID, aai.CleanLabel(name, maxName))
	e.Candidates = aai.Nearest(name, names, 5)
	e.Hint = "It has no tools yet."
	if len(names) > 0 {
		e.Hint = "Its tools are: " + strings.Join(truncateList(names, 30), ", ") + "."
	}
	return e
}

func unsupported(r *aai.Request) *aai.Error {
	if r.Tool.Implementation.Unavailable != nil {
		return r.Tool.Implementation.Unavailable
	}
	e := aai.Errorf(aai.AutomationNotSupported, "%s's tools are made for %s and cannot run on this computer (%s)",
		r.App.ID, orUnknown(r.App.Platform), runtime.GOOS)
	e.Hint = "Use another app that can do the same."
	return e
}

func consentRequired(r *aai.Request, questions []aai.Question) *aai.Error {
	if r.App.ID == aai.BuiltinApp && r.Tool.Effect != aai.Reads {
		return reauthRequired(r, questions)
	}
	c := r.Call.Caller
	e := &aai.Error{
		Code:      aai.ConsentRequired,
		Message:   fmt.Sprintf("a person must allow %s to use %s of %s first", c, r.Permission(), r.Call.Target.ID),
		Hint:      "Ask the person to come to the screen and call again: the caller is not verified here, so nothing can be allowed in advance.",
		Questions: questions,
	}
	if slices.ContainsFunc(questions, func(q aai.Question) bool { return q.AlwaysAsk }) {
		if len(r.Assessment().ReadsFiles) > 0 {
			e.Hint = "Ask the person to come to the screen and call again: each call that sends a file needs its own confirmation, in every mode."
			return e
		}
		e.Hint = "Ask the person to come to the screen and call again: in this gateway's mode each such call needs its own confirmation. " +
			"Only they can change that: aai-gateway mode normal"
		return e
	}
	if c.Identity != "" {
		first := ""
		if !slices.ContainsFunc(questions, func(q aai.Question) bool {
			return q.AllowsChannel(aai.DesktopDialog) || q.AllowsChannel(aai.Passphrase)
		}) {
			// No grant is possible yet: there is no way to authenticate the person.
			first = "aai-gateway consent passphrase (once, where there is no screen), and then: "
		}
		e.Hint = fmt.Sprintf("Ask the person at this computer to run: %saai-gateway consent grant %s %s --caller %s", first, r.Call.Target.ID, sanitize.ShellJoin(r.Permission()), sanitize.ShellQuote(c.String()))
	}
	if c.Identity != "" && c.Door != aai.DoorCLI {
		e.Hint += " --identity " + sanitize.ShellQuote(c.Identity)
	}
	return e
}

// reauthRequired returns the error that tells how a person authenticates for a change of the
// gateway.
func reauthRequired(r *aai.Request, questions []aai.Question) *aai.Error {
	e := aai.Errorf(aai.ConsentRequired, "%s changes the gateway itself, and a person must confirm it", r.Tool.Name)
	e.Hint, e.Questions = "Ask the person at this computer to do it with aai-gateway at a terminal.", questions
	return e
}

// consentChanged returns the error of a call with an effect that has changed since the consent.
func consentChanged(r *aai.Request) *aai.Error {
	e := aai.Errorf(aai.ConsentRequired, "the call's target changed in %s while the call waited, and a person must allow its new effect: %s",
		r.Call.Target.ID, r.Permission())
	e.Hint = "Look at the window again, and make the call again if it is still right."
	return withNeeds(r, e)
}

// withNeeds adds the missing permission to a consent error.
func withNeeds(r *aai.Request, err *aai.Error) *aai.Error {
	if err == nil || err.Code != aai.ConsentRequired || err.Needs != nil {
		return err
	}
	e := *err
	values := url.Values{"app": {r.Call.Target.ID}, "tool": {r.Permission()}}
	e.Needs = &aai.Needs{
		App: r.Call.Target.ID, AppName: aai.CleanLabel(r.Call.Target.Name, maxName), Tool: r.Permission(),
		Description: aai.CleanLabel(r.Tool.Description, 300),
		URL:         "aai://consent?" + values.Encode(),
	}
	return &e
}

// cancelledBeforeRun returns the error of a call cancelled before its Action began.
func cancelledBeforeRun(cause error) *aai.Error {
	e := *aai.AsError(cause)
	e.Message = "the call ended before it began to run: " + e.Message
	e.Delivery = aai.NotDelivered
	return &e
}

func orUnknown(platform string) string {
	if platform == "" {
		return "another platform"
	}
	return platform
}

func truncateList(names []string, n int) []string {
	if len(names) > n {
		return append(append([]string{}, names[:n]...), "…")
	}
	return names
}

// errEndedWithoutAnswer is the outcome of an Action that ended its goroutine.
var errEndedWithoutAnswer = errors.New("ended without an answer")

// panicked returns the error of a call that panicked with p. Err carries the stack to the log.
func panicked(p any) *aai.Error {
	return &aai.Error{
		Code:     aai.Internal,
		Message:  "the gateway failed at this call; other calls are not affected",
		Hint:     "This is a fault of the gateway. Its log has the details.",
		Delivery: aai.DeliveryUnknown,
		Err:      fmt.Errorf("panic: %v\n%s", p, debug.Stack()),
	}
}
