package operate

import (
	"context"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/params"
	"github.com/gybob/aai-gateway/internal/gui/watch"
)

// newWindowTimeout is how long a window manager may take to give the keyboard to
// a window that has just appeared.
const newWindowTimeout = 200 * time.Millisecond

// A Keeper gives the person's keyboard back to them. A program that is operated in
// the background may open a window, and many window managers let that have the
// keyboard at once: what the person is typing would answer a dialog that they have
// never seen.
type KeyboardGuard struct {
	*View
	personWindow desktop.WindowInfo        // the window that they work in; none where ID is zero
	knownWindows map[desktop.WindowID]bool // those that there were; nil where that is not known
	startedPIDs  []int                     // processes that the program started, of which a window came
}

// GuardKeyboard remembers which windows there are, and which of them has the keyboard where the call
// may not take it.
func (v *View) GuardKeyboard(ctx context.Context) KeyboardGuard {
	k := KeyboardGuard{View: v}
	if v.Backend.Windows == nil {
		return k
	}
	all, err := v.Backend.Windows.Windows(ctx)
	if err != nil {
		return k
	}
	k.knownWindows = make(map[desktop.WindowID]bool, len(all))
	for _, w := range all {
		k.knownWindows[w.ID] = true
		if w.Active && w.PID != v.App.PID && !params.TakesFocus(v.Call) {
			k.personWindow = w
		}
	}
	if first := v.keyboardGuard; first != nil && first.knownWindows != nil {
		if !first.knownWindows[k.personWindow.ID] { // what came of an act before has the keyboard
			k.personWindow = first.personWindow
		}
		k.knownWindows, k.startedPIDs = first.knownWindows, first.startedPIDs
	}
	return k
}

// GuardKeyboardForAll is Keep before the first of several acts: what came of one of them is new to those
// after it.
func (v *View) GuardKeyboardForAll(ctx context.Context) *KeyboardGuard {
	if v.keyboardGuard == nil {
		k := v.GuardKeyboard(ctx)
		v.keyboardGuard = &k
	}
	return v.keyboardGuard
}

// Restore gives the keyboard back if a window of the program has it now, or one that came of
// what it started, and reports whether it did so. Where something has opened it waits for that a moment.
func (k KeyboardGuard) Restore(ctx context.Context, before *desktop.Snapshot) bool {
	if k.personWindow.ID == 0 {
		return false
	}
	patience := time.Duration(0)
	if k.HasOpened(before) || len(k.startedPIDs) > 0 {
		patience = newWindowTimeout
	}
	for until := time.Now().Add(patience); ; {
		all, err := k.Backend.Windows.Windows(ctx)
		if err != nil {
			return false
		}
		for _, w := range all {
			if w.Active && (w.PID == k.App.PID || slices.Contains(k.startedPIDs, w.PID)) {
				return k.Backend.Windows.Activate(ctx, k.personWindow.ID) == nil
			}
		}
		if time.Now().After(until) {
			return false
		}
		if aai.Sleep(ctx, watch.PollInterval/10) != nil {
			return false
		}
	}
}

// AwaitGrab waits, after what makes the program take the keyboard a while later, until it has
// it or is done with that.
func (k KeyboardGuard) AwaitGrab(ctx context.Context) {
	if k.personWindow.ID == 0 {
		return
	}
	begun := time.Now()
	for rests := 0; rests < idleChecks && time.Since(begun) < WrongCeiling; {
		own, err := k.AppWindows(ctx)
		if err != nil || slices.ContainsFunc(own, func(w desktop.WindowInfo) bool { return w.Active }) {
			return
		}
		if rests++; k.Backend.Events == nil || time.Since(begun) < newWindowTimeout || !k.Backend.Events.IsIdle(k.App) {
			rests = 0
		}
		if aai.Sleep(ctx, watch.PollInterval/10) != nil {
			return
		}
	}
}

// idleChecks is how often in a row a program is idle that is done.
const idleChecks = 5

// HasOpened reports whether the program shows a window or a dialog that it did not
// show before. A browser's dialog is no window of its own, but brings the browser's
// to the front.
func (k KeyboardGuard) HasOpened(before *desktop.Snapshot) bool {
	for i := range k.Snapshot.Elements {
		e := &k.Snapshot.Elements[i]
		if e.Parent >= 0 && e.Role != desktop.Dialog && e.Role != desktop.AlertDialog || !e.States.Has(desktop.Showing) {
			continue
		}
		if was := before.Index(e.ID); was < 0 || !before.Elements[was].States.Has(desktop.Showing) {
			return true
		}
	}
	return false
}
