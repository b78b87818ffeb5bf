package ax

import (
	"context"
	"slices"

	"aai"
	"aai/internal/desktop"
)

// asksPassword returns the process of the program whose window has the keyboard, where a
// field for a password has it there: whoever types that is shown to nobody. It is 0 where
// there is none. A program that does not say so in time counts as one that asks; one
// that tells nothing of itself counts as none, since most do not.
func (d *desk) asksPassword(ctx context.Context) (pid int) {
	b := d.open()
	if b.Tree == nil || b.Windows == nil {
		return 0
	}
	ctx, cancel := context.WithTimeout(ctx, guardsPatience)
	defer cancel()
	windows, err := b.Windows.Windows(ctx)
	if err != nil {
		return 0
	}
	i := slices.IndexFunc(windows, func(w desktop.WindowInfo) bool { return w.Active && w.PID != 0 })
	if i < 0 {
		return 0
	}
	pid = windows[i].PID
	apps, err := d.apps(ctx)
	if err != nil {
		return pid
	}
	i = slices.IndexFunc(apps, func(a desktop.App) bool { return a.PID == pid })
	if i < 0 {
		return 0
	}
	shot, err := b.Tree.Snapshot(ctx, apps[i])
	if err != nil && aai.AsError(err).Code == aai.Timeout {
		return pid
	}
	if err != nil || !slices.ContainsFunc(shot.Elements, func(e desktop.Element) bool { return e.States.Has(desktop.Protected | desktop.Focused) }) {
		return 0
	}
	return pid
}

// unlessPassword takes a picture of a program's window, unless a password is typed there.
func (d *desk) unlessPassword(ctx context.Context, pid int, take func() (*aai.Result, error)) (*aai.Result, error) {
	asks := d.asksPassword(ctx) == pid
	result, err := take()
	if err != nil || !asks && d.asksPassword(ctx) != pid {
		return result, err
	}
	e := aai.Errorf(aai.PermissionDenied, "a field for a password has the keyboard in this window, so no picture of it is taken")
	e.Hint = "Take it when the person has typed, or look at the window with ax_get_tree."
	e.Delivery = aai.NotDelivered
	return nil, e
}

// lockedScreen is the error of a picture of the whole screen while that is locked; nil where it
// is not, or nobody knows.
func (d *desk) lockedScreen(ctx context.Context) error {
	if d.locked == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, guardsPatience)
	defer cancel()
	if !d.locked(ctx) {
		return nil
	}
	e := aai.Errorf(aai.PermissionDenied, "the screen is locked, and a lock is not seen by tools: it guards the person at this computer")
	e.Hint = "Name a program in app, or wait until the person is back."
	e.Delivery = aai.NotDelivered
	return e
}
