package programs

import (
	"context"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// lockReasonTimeout limits the check for a screen lock or password prompt.
const lockReasonTimeout = 500 * time.Millisecond

// pagesTimeout limits the check for the pages of a browser.
const pagesTimeout = 2 * time.Second

// lockReason returns the reason why the program must not be operated: it shows the dashboard or a
// screen lock; "" for none.
func (r *Registry) lockReason(ctx context.Context, app desktop.App) string {
	if page := r.dashboardReason(ctx, app); page != "" {
		return page
	}
	return r.screenLockReason(ctx, app)
}

// screenLockReason returns a text if the program shows a window that only a screen lock has. It covers a whole
// monitor and was placed past the window manager. Otherwise, and after a timeout, it returns "": lock programs are
// first recognized by name.
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

// passwordPrompt returns the PID of the program with the keyboard if a password field is focused
// there, or 0. That window must not be captured. A program that does not answer in time counts as
// one that asks, with known false. One without a tree counts as none, since most do not ask.
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

// CaptureUnlessPassword calls take, which captures a window of the process, and returns the result. It fails if a
// password field there has the keyboard before or after the capture.
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

// CheckScreenLock returns an error for a capture of the whole screen while it is locked; nil if it
// is not, or that is unknown.
func (r *Registry) CheckScreenLock(ctx context.Context) error {
	if r.IsScreenLocked == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lockReasonTimeout)
	defer cancel()
	if !r.IsScreenLocked(ctx) {
		return nil
	}
	e := aai.Errorf(aai.PermissionDenied, "the screen is locked, and tools cannot see a lock: it protects the person at this computer")
	e.Hint = "Name a program in app, or wait until the person is back."
	e.Delivery = aai.NotDelivered
	return e
}
