package operate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/params"
	"github.com/gybob/aai-gateway/internal/gui/programs"
	"github.com/gybob/aai-gateway/internal/gui/watch"
)

// covered is the hidden fraction of a window from which it counts as covered.
const covered = 0.95

// AppWindows returns the program's windows as the window system knows them, front to back.
func (v *View) AppWindows(ctx context.Context) ([]desktop.WindowInfo, error) {
	return programs.WindowsOf(ctx, v.Backend, v.App)
}

// WindowOf returns the window that shows the element, or the program's front window for -1. It
// matches by title and position.
func (v *View) WindowOf(ctx context.Context, i int) (desktop.WindowInfo, error) {
	own, err := v.AppWindows(ctx)
	if err != nil {
		return desktop.WindowInfo{}, err
	}
	if len(own) == 0 {
		return desktop.WindowInfo{}, guierr.Failed(aai.NotDelivered, "%s has no window on the screen", aai.CleanLabel(v.App.Name, 60))
	}
	if i < 0 {
		return programs.FrontWindow(own), nil
	}
	w, sure := programs.BestWindow(own, &v.Snapshot.Elements[v.Snapshot.WindowOf(i)])
	if !sure {
		return w, guierr.Failed(aai.NotDelivered, "the window of %s that shows %s is unknown", aai.CleanLabel(v.App.Name, 60), v.Name(i))
	}
	return w, nil
}

// FrontTopLevel returns the index of the top-level element of the front window of the program, or -1 if that is
// unknown.
func (v *View) FrontTopLevel(ctx context.Context) int {
	own, err := v.AppWindows(ctx)
	if err != nil || len(own) == 0 {
		return -1
	}
	front := programs.FrontWindow(own)
	for _, top := range v.Snapshot.Children(-1) {
		if w, sure := programs.BestWindow(own, &v.Snapshot.Elements[top]); sure && w.ID == front.ID {
			return top
		}
	}
	return -1
}

// invisibleReason returns the reason why a delivered action may have no visible effect, or "".
func (a Action) invisibleReason(ctx context.Context) string {
	if a.Index < 0 || a.Backend.Windows == nil || a.App.WorksCovered {
		return ""
	}
	own, err := a.AppWindows(ctx)
	if err != nil || len(own) == 0 {
		return ""
	}
	w := own[0]
	name := aai.CleanLabel(a.App.Name, 60)
	switch {
	case w.Minimized:
		return fmt.Sprintf("the window of %s is minimized, and some programs do nothing then, or do not show it", name)
	case w.Covered >= covered:
		return fmt.Sprintf("the window of %s is covered by others, and some programs, such as Chromium, do nothing then, or do not show it", name)
	}
	return ""
}

// WindowToClick returns the window to click at the point: w, or an open menu or list of the program that covers w
// there. AppWindows does not list those, so WindowToClick asks the window system for the position.
func (v *View) WindowToClick(ctx context.Context, w desktop.WindowInfo, at desktop.Point) desktop.WindowID {
	seen, err := v.Backend.Windows.WindowAt(ctx, at)
	if err != nil || seen.PID != v.App.PID || seen.ID == w.ID {
		return w.ID
	}
	own, err := v.AppWindows(ctx)
	if err != nil || slices.ContainsFunc(own, func(o desktop.WindowInfo) bool { return o.ID == seen.ID }) {
		return w.ID
	}
	return seen.ID
}

// raiseWindow brings the window to the front if the call may take the focus.
func (v *View) raiseWindow(ctx context.Context, w desktop.WindowInfo) error {
	if !params.TakesFocus(v.Call) || w.Active {
		return nil
	}
	if err := v.Backend.Windows.Activate(ctx, w.ID); err != nil {
		return err
	}
	return v.awaitFront(ctx, w)
}

// awaitFront waits until the window has the keyboard: earlier keys would go to another.
func (v *View) awaitFront(ctx context.Context, w desktop.WindowInfo) error {
	for until := time.Now().Add(frontTimeout); ; {
		own, err := v.AppWindows(ctx)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(own, func(o desktop.WindowInfo) bool { return o.ID == w.ID && o.Active }) {
			return nil
		}
		if time.Now().After(until) {
			return guierr.Failed(aai.NotDelivered, "the window %q does not come to the front", aai.CleanLabel(w.Title, 60))
		}
		if aai.Sleep(ctx, watch.PollInterval/10) != nil {
			return guierr.Unreadable(ctx.Err())
		}
	}
}

// inputSeat returns the seat that the call may use, and its name in a reply.
func (v *View) inputSeat() (desktop.Seat, string) {
	if params.TakesFocus(v.Call) {
		return desktop.PersonSeat, "the person's pointer and keyboard"
	}
	return desktop.OwnSeat, "a second pointer and keyboard, in the background"
}

// inputFunc sends input to the window w with the pointer and keyboard of the seat.
type inputFunc func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error

// ByInput returns a technique that uses pointer and keyboard on the window that shows the element
// (-1: the front window).
func (v *View) ByInput(i int, do inputFunc) Technique {
	return v.ByInputIn(v.windowShowing(i), do)
}

// windowShowing returns a finder for the window that shows the element (-1: the front window).
func (v *View) windowShowing(i int) func(context.Context) (desktop.WindowInfo, error) {
	return func(ctx context.Context) (desktop.WindowInfo, error) { return v.WindowOf(ctx, i) }
}

// ByInputIn is ByInput on a window that find determines when the technique runs.
func (v *View) ByInputIn(find func(context.Context) (desktop.WindowInfo, error), do inputFunc) Technique {
	seat, name := v.inputSeat()
	return Technique{Name: name, Do: func(ctx context.Context) error {
		if v.Backend.Input == nil {
			return guierr.Unsupported("pointer and keyboard")
		}
		w, err := find(ctx)
		if err != nil {
			return err
		}
		if err := v.raiseWindow(ctx, w); err != nil {
			return err
		}
		if v.screenWatcher != nil {
			v.screenWatcher.Begin(ctx, w)
		}
		input := trackedInput{v.Backend.Input, new(bool), v.checkReach}
		return input.partialInputError(do(ctx, input, seat, w))
	}}
}

// ByKeys is ByInput with keys only. A program with FocusOnlyWhenActive owns the seat's keyboard
// from the first key to the last.
func (v *View) ByKeys(i int, do inputFunc) Technique {
	return v.byKeysIn(v.windowShowing(i), v.withFocusCheck(i, do))
}

// ByKeysIn is ByKeys on a window that find determines when the technique runs.
func (v *View) ByKeysIn(find func(context.Context) (desktop.WindowInfo, error), do inputFunc) Technique {
	return v.byKeysIn(find, v.withFocusCheck(-1, do))
}

func (v *View) byKeysIn(find func(context.Context) (desktop.WindowInfo, error), do inputFunc) Technique {
	return v.ByInputIn(find, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		if !v.App.FocusOnlyWhenActive || seat == desktop.PersonSeat || w.Active {
			return do(ctx, input, seat, w)
		}
		watching, cancel := context.WithCancel(ctx)
		defer cancel()
		k := focusTracker{View: v, events: Action{View: v}.Subscribe(watching)}
		return input.WithKeyboard(ctx, seat, w.ID, func(ctx context.Context, input desktop.Input) error {
			// A Firefox page is another process. It loses keys that arrive before it knows about
			// its keyboard focus.
			if err := k.awaitFocusReport(ctx); err != nil {
				return err
			}
			return do(ctx, input, seat, w)
		})
	})
}

// ByAccessibility returns a technique that asks the program to act on the element.
func (v *View) ByAccessibility(i int, name string, act desktop.Act) Technique {
	return Technique{Name: name, ViaAccessibility: true, Do: func(ctx context.Context) error {
		if v.Backend.Actor == nil {
			return guierr.Unsupported("actions on elements")
		}
		e := &v.Snapshot.Elements[i]
		act.Name = e.Name
		return v.Backend.Actor.Execute(ctx, v.App, e.ID, act)
	}}
}
