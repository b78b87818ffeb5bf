package programs

import (
	"context"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// lockReasonTimeout is how long it may take to look whether a program guards the person.
const lockReasonTimeout = 500 * time.Millisecond

// pagesTimeout is how long it may take to look which pages a browser shows.
const pagesTimeout = 2 * time.Second

// lockReason says by what of its windows the program guards the person: the gateway's own page,
// or a lock of the screen.
func (r *Registry) lockReason(ctx context.Context, app desktop.App) string {
	if page := r.dashboardReason(ctx, app); page != "" {
		return page
	}
	return r.screenLockReason(ctx, app)
}

// screenLockReason says whether the program shows what only a lock of the screen is: a window
// over a whole monitor that it put there itself, past the window manager. What cannot
// be seen in time counts as none: guards are known by their names first.
func (r *Registry) screenLockReason(ctx context.Context, app desktop.App) string {
	screen := r.OpenBackend().Screen
	if screen == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, lockReasonTimeout)
	defer cancel()
	layers, err := screen.Layers(ctx)
	if err != nil {
		return ""
	}
	own := slices.DeleteFunc(layers, func(l desktop.Layer) bool { return l.PID != app.PID || !l.Unmanaged })
	if len(own) == 0 {
		return ""
	}
	monitors, err := screen.Monitors(ctx)
	if err != nil {
		return ""
	}
	for _, m := range monitors {
		if slices.ContainsFunc(own, func(l desktop.Layer) bool { return m.Frame.Intersect(l.Frame) == m.Frame }) {
			return "a lock of the screen"
		}
	}
	return ""
}

// passwordPrompt returns the process of the program whose window has the keyboard, where a
// field for a password has it there: whoever types that is shown to nobody. It is 0 where
// there is none. A program that does not say so in time counts as one that asks, and is not
// known to; one that tells nothing of itself counts as none, since most do not.
func (r *Registry) passwordPrompt(ctx context.Context) (pid int, known bool) {
	b := r.OpenBackend()
	if b.Tree == nil || b.Windows == nil {
		return 0, true
	}
	ctx, cancel := context.WithTimeout(ctx, lockReasonTimeout)
	defer cancel()
	windows, err := b.Windows.Windows(ctx)
	if err != nil {
		return 0, true
	}
	i := slices.IndexFunc(windows, func(w desktop.WindowInfo) bool { return w.Active && w.PID != 0 })
	if i < 0 {
		return 0, true
	}
	pid = windows[i].PID
	apps, err := r.Apps(ctx)
	if err != nil {
		return pid, false
	}
	i = slices.IndexFunc(apps, func(a desktop.App) bool { return a.PID == pid })
	if i < 0 {
		return 0, true
	}
	shot, err := b.Tree.Snapshot(ctx, apps[i])
	if err != nil && aai.AsError(err).Code == aai.Timeout {
		return pid, false
	}
	if err != nil || !slices.ContainsFunc(shot.Elements, func(e desktop.Element) bool { return e.States.Has(desktop.Protected | desktop.Focused) }) {
		return 0, true
	}
	return pid, true
}

// CaptureUnlessPassword takes a picture of a program's window, unless a password is typed there.
func (r *Registry) CaptureUnlessPassword(ctx context.Context, pid int, take func() (*aai.Result, error)) (*aai.Result, error) {
	asks, known := r.passwordPrompt(ctx)
	result, err := take()
	if err == nil && asks != pid {
		asks, known = r.passwordPrompt(ctx)
	}
	if err != nil || asks != pid {
		return result, err
	}
	e := aai.Errorf(aai.PermissionDenied, "a field for a password has the keyboard in this window, so no picture of it is taken")
	e.Hint = "Take it when the person has typed, or look at the window with ax_get_tree."
	if !known {
		e = aai.Errorf(aai.Timeout, "the program did not say in time whether a password is typed in this window, so no picture of it is taken")
		e.Hint = "Take it again in a moment."
	}
	e.Delivery = aai.NotDelivered
	return nil, e
}

// CheckScreenLock is the error of a picture of the whole screen while that is locked; nil where it
// is not, or nobody knows.
func (r *Registry) CheckScreenLock(ctx context.Context) error {
	if r.IsScreenLocked == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lockReasonTimeout)
	defer cancel()
	if !r.IsScreenLocked(ctx) {
		return nil
	}
	e := aai.Errorf(aai.PermissionDenied, "the screen is locked, and a lock is not seen by tools: it guards the person at this computer")
	e.Hint = "Name a program in app, or wait until the person is back."
	e.Delivery = aai.NotDelivered
	return e
}
