package ax

import (
	"context"
	"time"

	"aai/internal/desktop"
)

// newWindowPatience is how long a window manager may take to give the keyboard to
// a window that has just appeared.
const newWindowPatience = 200 * time.Millisecond

// A keeper gives the person's keyboard back to them. A program that is operated in
// the background may open a window, and many window managers let that have the
// keyboard at once: what the person is typing would answer a dialog that they have
// never seen.
type keeper struct {
	*view
	theirs desktop.WindowInfo // the window that they work in; none where ID is zero
	known  map[desktop.WindowID]bool
}

// keep remembers which window has the keyboard, where the call may not take it.
func (v *view) keep(ctx context.Context) keeper {
	k := keeper{view: v, known: make(map[desktop.WindowID]bool)}
	if inFocus(v.call) || v.backend.Windows == nil {
		return k
	}
	all, err := v.backend.Windows.Windows(ctx)
	if err != nil {
		return k
	}
	for _, w := range all {
		k.known[w.ID] = true
		if w.Active && w.PID != v.app.PID {
			k.theirs = w
		}
	}
	return k
}

// giveBack gives the keyboard back if a window has it that the program did not
// have before, and reports whether it did so.
func (k keeper) giveBack(ctx context.Context, before *desktop.Snapshot) bool {
	if k.theirs.ID == 0 || !k.opened(before) {
		return false
	}
	for until := time.Now().Add(newWindowPatience); ; {
		own, err := k.windows(ctx)
		if err != nil {
			return false
		}
		for _, w := range own {
			if w.Active && !k.known[w.ID] {
				return k.backend.Windows.Activate(ctx, k.theirs.ID) == nil
			}
		}
		if time.Now().After(until) {
			return false
		}
		select {
		case <-time.After(lookAgain / 10):
		case <-ctx.Done():
			return false
		}
	}
}

// opened reports whether the program shows a window that it did not show before.
func (k keeper) opened(before *desktop.Snapshot) bool {
	for _, top := range k.shot.Children(-1) {
		if i := before.Index(k.shot.Elements[top].ID); i < 0 || !before.Elements[i].States.Has(desktop.Showing) {
			return true
		}
	}
	return false
}
