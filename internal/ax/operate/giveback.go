package operate

import (
	"context"
	"slices"
	"time"

	"aai"
	"aai/internal/ax/asked"
	"aai/internal/ax/watch"
	"aai/internal/desktop"
)

// newWindowPatience is how long a window manager may take to give the keyboard to
// a window that has just appeared.
const newWindowPatience = 200 * time.Millisecond

// A Keeper gives the person's keyboard back to them. A program that is operated in
// the background may open a window, and many window managers let that have the
// keyboard at once: what the person is typing would answer a dialog that they have
// never seen.
type Keeper struct {
	*View
	theirs desktop.WindowInfo        // the window that they work in; none where ID is zero
	known  map[desktop.WindowID]bool // those that there were; nil where that is not known
	hosts  []int                     // processes that the program started, of which a window came
}

// Keep remembers which windows there are, and which of them has the keyboard where the call
// may not take it.
func (v *View) Keep(ctx context.Context) Keeper {
	k := Keeper{View: v}
	if v.Backend.Windows == nil {
		return k
	}
	all, err := v.Backend.Windows.Windows(ctx)
	if err != nil {
		return k
	}
	k.known = make(map[desktop.WindowID]bool, len(all))
	for _, w := range all {
		k.known[w.ID] = true
		if w.Active && w.PID != v.App.PID && !asked.InFocus(v.Call) {
			k.theirs = w
		}
	}
	if first := v.kept; first != nil && first.known != nil {
		if !first.known[k.theirs.ID] { // what came of an act before has the keyboard
			k.theirs = first.theirs
		}
		k.known, k.hosts = first.known, first.hosts
	}
	return k
}

// KeepAll is Keep before the first of several acts: what came of one of them is new to those
// after it.
func (v *View) KeepAll(ctx context.Context) *Keeper {
	if v.kept == nil {
		k := v.Keep(ctx)
		v.kept = &k
	}
	return v.kept
}

// GiveBack gives the keyboard back if a window of the program has it now, or one that came of
// what it started, and reports whether it did so. Where something has opened it waits for that a moment.
func (k Keeper) GiveBack(ctx context.Context, before *desktop.Snapshot) bool {
	if k.theirs.ID == 0 {
		return false
	}
	patience := time.Duration(0)
	if k.Opened(before) || len(k.hosts) > 0 {
		patience = newWindowPatience
	}
	for until := time.Now().Add(patience); ; {
		all, err := k.Backend.Windows.Windows(ctx)
		if err != nil {
			return false
		}
		for _, w := range all {
			if w.Active && (w.PID == k.App.PID || slices.Contains(k.hosts, w.PID)) {
				return k.Backend.Windows.Activate(ctx, k.theirs.ID) == nil
			}
		}
		if time.Now().After(until) {
			return false
		}
		if aai.Pause(ctx, watch.LookAgain/10) != nil {
			return false
		}
	}
}

// AwaitTaking waits, after what makes the program take the keyboard a while later, until it has
// it or is done with that.
func (k Keeper) AwaitTaking(ctx context.Context) {
	if k.theirs.ID == 0 {
		return
	}
	begun := time.Now()
	for rests := 0; rests < restsBefore && time.Since(begun) < WrongCeiling; {
		own, err := k.Windows(ctx)
		if err != nil || slices.ContainsFunc(own, func(w desktop.WindowInfo) bool { return w.Active }) {
			return
		}
		if rests++; k.Backend.Events == nil || time.Since(begun) < newWindowPatience || !k.Backend.Events.Idle(k.App) {
			rests = 0
		}
		if aai.Pause(ctx, watch.LookAgain/10) != nil {
			return
		}
	}
}

// restsBefore is how often in a row a program is idle that is done.
const restsBefore = 5

// Opened reports whether the program shows a window or a dialog that it did not
// show before. A browser's dialog is no window of its own, but brings the browser's
// to the front.
func (k Keeper) Opened(before *desktop.Snapshot) bool {
	for i := range k.Shot.Elements {
		e := &k.Shot.Elements[i]
		if e.Parent >= 0 && e.Role != desktop.Dialog && e.Role != desktop.AlertDialog || !e.States.Has(desktop.Showing) {
			continue
		}
		if was := before.Index(e.ID); was < 0 || !before.Elements[was].States.Has(desktop.Showing) {
			return true
		}
	}
	return false
}
