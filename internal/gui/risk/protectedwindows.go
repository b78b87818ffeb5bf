package risk

import (
	"context"
	"time"

	"github.com/gybob/aai-gateway"
)

// ProtectedWindows is the gate that keeps window tools away from protected windows: the
// gateway's own dialogs, system prompts for passwords and rights, screen locks, and
// password managers. Such windows can be neither seen nor operated, and no grant allows
// it.
type ProtectedWindows struct {
	// ShowsDialog reports whether a process now shows a dialog of a gateway. Nil means that none does.
	ShowsDialog func(pid int) bool
	// IsDialogOpen reports whether any dialog of a gateway is open. Nil means never.
	IsDialogOpen func() bool
}

// Check implements aai.Gate.
func (u ProtectedWindows) Check(ctx context.Context, r *aai.Request) ([]aai.Question, error) {
	if !operates(r) {
		return nil, nil
	}
	switch {
	case r.Call.Target.PID != 0 && u.ShowsDialog != nil && u.ShowsDialog(r.Call.Target.PID):
		return nil, protectedError("a dialog of the gateway itself")
	case !r.IsWholeScreen() && isProtected(r.Call.Target):
		return nil, protectedError(aai.CleanLabel(r.Call.Target.ID, 60))
	case takesWholeScreen(r) && u.IsDialogOpen != nil && u.IsDialogOpen():
		// An open dialog has the keyboard and the screen.
		e := aai.Errorf(aai.RateLimited, "tools cannot use the screen while the person at this computer is being asked a question")
		e.Hint = "You have not called too often: call again when the question is answered."
		e.RetryAfter = 100 * time.Millisecond
		return nil, e
	}
	if takesWholeScreen(r) && r.App.Process.LockReason != nil {
		if what := r.App.Process.LockReason(ctx); what != "" {
			return nil, protectedError("the screen, which shows " + what)
		}
	}
	if !r.IsWholeScreen() && r.Call.Target.PID != 0 && r.Call.Target.Process.LockReason != nil {
		if what := r.Call.Target.Process.LockReason(ctx); what != "" {
			return nil, protectedError(aai.CleanLabel(r.Call.Target.ID, 60) + ", which shows " + what)
		}
	}
	return nil, nil
}

// operates reports whether the call itself operates a program. The calls that a tool of the desktop
// only makes pass every gate.
func operates(r *aai.Request) bool {
	return r.App.OperatesOthers() && (r.App.ID != aai.DesktopApp || !r.Tool.Assessment(nil).OnlyMakesCalls)
}

// takesWholeScreen reports whether the call affects more than one program's windows: a
// screenshot of the whole screen, the clipboard, the person's pointer and keyboard.
func takesWholeScreen(r *aai.Request) bool {
	if r.Tool.Effect == aai.Reads {
		return r.IsWholeScreen() && r.Assessment().TakesScreenshot
	}
	return r.IsWholeScreen() || !r.Assessment().KeepsFocus
}

func protectedError(what string) error {
	e := aai.Errorf(aai.PermissionDenied, "%s cannot be seen or operated by tools: it protects the person at this computer", what)
	e.Hint = "Ask the person to do it."
	return e
}
