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

// newWindowTimeout is how long a window manager may take to give the keyboard to a new window.
const newWindowTimeout = 200 * time.Millisecond

// KeyboardGuard returns the keyboard to the person. A program in the background may open a window,
// and many window managers give it the keyboard at once. The person's typing would answer a dialog
// that they have never seen.
type KeyboardGuard struct {
	*View
	personWindow desktop.WindowInfo        // the window that the person works in; none if ID is zero
	knownWindows map[desktop.WindowID]bool // the windows before the action; nil if unknown
	startedPIDs  []int                     // processes that the program started and that opened a window
}

// GuardKeyboard returns a guard that knows the open windows. Unless the call may take the keyboard, the guard also
// knows the window of another program that has it, as the window of the person.
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
		if !first.knownWindows[k.personWindow.ID] { // a window of an earlier action has the keyboard
			k.personWindow = first.personWindow
		}
		k.knownWindows, k.startedPIDs = first.knownWindows, first.startedPIDs
	}
	return k
}

// GuardKeyboardForAll returns one guard for several actions. Later guards of the view share its list of windows, so
// that a window opened by one action stays new for the others.
func (v *View) GuardKeyboardForAll(ctx context.Context) *KeyboardGuard {
	if v.keyboardGuard == nil {
		k := v.GuardKeyboard(ctx)
		v.keyboardGuard = &k
	}
	return v.keyboardGuard
}

// Restore gives the keyboard back to the person if a window of the program, or of a process that it started, has it.
// It reports whether it did. If a window has opened since before, Restore waits up to newWindowTimeout for that.
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

// AwaitGrab waits until the program has taken the keyboard, or is idle, after an action that makes
// it take the keyboard late.
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

// idleChecks is how many consecutive checks must find a program idle.
const idleChecks = 5

// HasOpened reports whether the program shows a window or dialog that before did not show. The dialog of a browser is
// not a separate window, but raises the window of the browser.
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
