package policy

import (
	"context"

	"aai"
)

// Untouchable is the gate that keeps the tools on windows away from what guards
// the person: the gateway's own dialogs, prompts of the system for passwords and
// rights, locks of the screen, and programs that keep passwords. Nobody can allow
// it; neither is seen nor operated.
type Untouchable struct {
	// Shows reports whether a process shows a dialog of a gateway now; nil: none does.
	Shows func(pid int) bool
	// Asking reports whether any dialog of a gateway is open; nil: never.
	Asking func() bool
}

// Check implements aai.Gate.
func (u Untouchable) Check(ctx context.Context, r *aai.Request) ([]aai.Question, error) {
	if !r.App.OperatesOthers() || onlyCalls(r.App, r.Tool) {
		return nil, nil
	}
	switch {
	case r.Call.Target.PID != 0 && u.Shows != nil && u.Shows(r.Call.Target.PID):
		return nil, untouchable("a dialog of the gateway itself")
	case !r.OnScreen() && isGuard(r.Call.Target):
		return nil, untouchable(aai.CleanLabel(r.Call.Target.ID, 60))
	case takesTheScreen(r) && u.Asking != nil && u.Asking():
		// The keyboard and the screen are the dialog's while it is open.
		e := aai.Errorf(aai.RateLimited, "not now: the person at this computer is being asked something, and the screen is theirs until they answered")
		e.Hint = "You have not called too often: call again when the question is answered."
		e.RetryAfter = busyFor
		return nil, e
	}
	if takesTheScreen(r) && r.App.Guards != nil {
		if what := r.App.Guards(ctx); what != "" {
			return nil, untouchable("the screen, which shows " + what)
		}
	}
	if !r.OnScreen() && r.Call.Target.PID != 0 && r.Call.Target.Guards != nil {
		if what := r.Call.Target.Guards(ctx); what != "" {
			return nil, untouchable(aai.CleanLabel(r.Call.Target.ID, 60) + ", which shows " + what)
		}
	}
	return nil, nil
}

// takesTheScreen reports whether the call is about more than one program's
// windows: a picture of all of it, the clipboard, the person's pointer and keyboard.
func takesTheScreen(r *aai.Request) bool {
	if r.Tool.Effect == aai.Reads {
		return r.OnScreen() && r.Tool.Pictures
	}
	return r.OnScreen() || r.Tool.Seizes == nil || r.Tool.Seizes(r.Call)
}

func untouchable(what string) error {
	e := aai.Errorf(aai.PermissionDenied, "%s is neither seen nor operated by tools: it guards the person at this computer", what)
	e.Hint = "Ask the person to do it."
	return e
}
