package gui

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

// appWindows returns the program's windows as the window system knows them, front to back.
func (v *view) appWindows(ctx context.Context) ([]desktop.WindowInfo, error) {
	return programs.WindowsOf(ctx, v.backend, v.app)
}

// windowOf returns the window that shows the element, or the program's front window for -1. It
// matches by title and position.
func (v *view) windowOf(ctx context.Context, i int) (desktop.WindowInfo, error) {
	own, err := v.appWindows(ctx)
	if err != nil {
		return desktop.WindowInfo{}, err
	}
	if len(own) == 0 {
		return desktop.WindowInfo{}, guierr.Failed(aai.NotDelivered, "%s has no window on the screen", aai.CleanLabel(v.app.Name, 60))
	}
	if i < 0 {
		return programs.FrontWindow(own), nil
	}
	w, sure := programs.BestWindow(own, &v.snapshot.Elements[v.snapshot.WindowOf(i)])
	if !sure {
		return w, guierr.Failed(aai.NotDelivered, "the window of %s that shows %s is unknown", aai.CleanLabel(v.app.Name, 60), v.name(i))
	}
	return w, nil
}

// frontTopLevel returns the index of the top-level element of the front window of the program, or -1 if that is
// unknown.
func (v *view) frontTopLevel(ctx context.Context) int {
	own, err := v.appWindows(ctx)
	if err != nil || len(own) == 0 {
		return -1
	}
	front := programs.FrontWindow(own)
	for _, top := range v.snapshot.Children(-1) {
		if w, sure := programs.BestWindow(own, &v.snapshot.Elements[top]); sure && w.ID == front.ID {
			return top
		}
	}
	return -1
}

// invisibleReason returns the reason why an action delivered by the technique may have no visible effect, or "".
func (a action) invisibleReason(ctx context.Context, way string) string {
	if a.index < 0 || a.backend.Windows == nil || a.app.WorksCovered || way == byDevTools {
		return ""
	}
	own, err := a.appWindows(ctx)
	if err != nil || len(own) == 0 {
		return ""
	}
	w := own[0]
	name := aai.CleanLabel(a.app.Name, 60)
	switch {
	case w.Minimized:
		return fmt.Sprintf("the window of %s is minimized, and some programs do nothing then, or do not show it", name)
	case w.Covered >= covered:
		return fmt.Sprintf("the window of %s is covered by others, and some programs, such as Chromium, do nothing then, or do not show it", name)
	}
	return ""
}

// windowToClick returns the window to click at the point: w, or an open menu or list of the program that covers w
// there. appWindows does not list those, so windowToClick asks the window system for the position.
func (v *view) windowToClick(ctx context.Context, w desktop.WindowInfo, at desktop.Point) desktop.WindowInfo {
	seen, err := v.backend.Windows.WindowAt(ctx, at)
	if err != nil || seen.PID != v.app.PID || seen.ID == w.ID {
		return w
	}
	own, err := v.appWindows(ctx)
	if err != nil || slices.ContainsFunc(own, func(o desktop.WindowInfo) bool { return o.ID == seen.ID }) {
		return w
	}
	return seen
}

// popupMargin is how much larger or smaller than its window, in pixels, the frame of a popup may be.
const popupMargin = 40

// pointToClick returns the point of the element to click, and its window. In a popup of a program with MisplacesPopups
// the window system knows the place.
func (v *view) pointToClick(ctx context.Context, i int, w desktop.WindowInfo) (desktop.WindowID, desktop.Point, error) {
	at, err := v.clickPoint(i, w)
	if err != nil {
		return w.ID, at, err
	}
	over := v.windowToClick(ctx, w, at)
	if over.ID == w.ID || !v.app.MisplacesPopups {
		return over.ID, at, nil
	}
	told, least := desktop.Rect{}, popupMargin
	for p := v.snapshot.Elements[i].Parent; p >= 0; p = v.snapshot.Elements[p].Parent {
		f := v.snapshot.Elements[p].Frame
		wider, higher := over.Frame.W-f.W, over.Frame.H-f.H
		if differs := max(wider, -wider, higher, -higher); differs < least {
			told, least = f, differs
		}
	}
	if told.Empty() {
		return w.ID, at, guierr.Failed(aai.NotDelivered, "the place of %s in its popup is not known", v.name(i))
	}
	to, from := over.Frame.Center(), told.Center()
	return over.ID, desktop.Point{X: at.X + to.X - from.X, Y: at.Y + to.Y - from.Y}, nil
}

// raiseWindow brings the window to the front if the call may take the focus.
func (v *view) raiseWindow(ctx context.Context, w desktop.WindowInfo) error {
	if !params.TakesFocus(v.call) || w.Active {
		return nil
	}
	if err := v.backend.Windows.Activate(ctx, w.ID); err != nil {
		return err
	}
	return v.awaitFront(ctx, w)
}

// awaitFront waits until the window has the keyboard: earlier keys would go to another.
func (v *view) awaitFront(ctx context.Context, w desktop.WindowInfo) error {
	for until := time.Now().Add(frontTimeout); ; {
		own, err := v.appWindows(ctx)
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
func (v *view) inputSeat() (desktop.Seat, string) {
	if params.TakesFocus(v.call) {
		return desktop.PersonSeat, "the person's pointer and keyboard"
	}
	return desktop.OwnSeat, "a second pointer and keyboard, in the background"
}

// inputFunc sends input to the window w with the pointer and keyboard of the seat.
type inputFunc func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error

// byInput returns a technique that uses pointer and keyboard on the window that shows the element
// (-1: the front window).
func (v *view) byInput(i int, do inputFunc) technique {
	return v.byInputIn(v.windowShowing(i), do)
}

// windowShowing returns a finder for the window that shows the element (-1: the front window).
func (v *view) windowShowing(i int) func(context.Context) (desktop.WindowInfo, error) {
	return func(ctx context.Context) (desktop.WindowInfo, error) { return v.windowOf(ctx, i) }
}

// byInputIn is byInput on a window that find determines when the technique runs.
func (v *view) byInputIn(find func(context.Context) (desktop.WindowInfo, error), do inputFunc) technique {
	seat, name := v.inputSeat()
	return technique{name: name, do: func(ctx context.Context) error {
		if v.backend.Input == nil {
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
		input := trackedInput{v.backend.Input, new(bool), v.checkReach, v.checkSecretPoint}
		return input.partialInputError(do(ctx, input, seat, w))
	}}
}

// byKeys is byInput with keys only. A program with FocusOnlyWhenActive owns the seat's keyboard
// from the first key to the last.
func (v *view) byKeys(i int, do inputFunc) technique {
	return v.byKeysIn(v.windowShowing(i), i, do)
}

// byKeysIn is byKeys on a window that find determines when the technique runs.
func (v *view) byKeysIn(find func(context.Context) (desktop.WindowInfo, error), i int, do inputFunc) technique {
	do = v.withFocusCheck(i, do)
	return v.byInputIn(find, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		if !v.app.FocusOnlyWhenActive || seat == desktop.PersonSeat || w.Active {
			return do(ctx, input, seat, w)
		}
		watching, cancel := context.WithCancel(ctx)
		defer cancel()
		k := focusTracker{view: v, events: v.subscribe(watching)}
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

// byAccessibility returns a technique that asks the program to act on the element.
func (v *view) byAccessibility(i int, name string, act desktop.Act) technique {
	if v.inDevTools(i) {
		name = byDevTools
	}
	return technique{name: name, viaAccessibility: true, do: func(ctx context.Context) error {
		if v.backend.Actor == nil {
			return guierr.Unsupported("actions on elements")
		}
		e := &v.snapshot.Elements[i]
		act.Name = e.Name
		err := v.backend.Actor.Execute(ctx, v.app, e.ID, act)
		if bad := aai.AsError(err); bad != nil && bad.Code == aai.InvalidParams && e.DevTools { // the page judges the text
			bad.Message = v.textParam() + ": " + bad.Message
			return bad
		}
		return err
	}}
}

// byDevTools is the name of a technique that operates an element of a page over DevTools.
const byDevTools = "the browser's DevTools"

// inDevTools reports whether the element (-1: none) is one of a page that is read and operated over DevTools. Such a
// page works while its window is covered, and gets events of a pointer for each press.
func (v *view) inDevTools(i int) bool { return i >= 0 && v.snapshot.Elements[i].DevTools }

// Limits for a raised window to come to the front and for its content to settle.
const (
	frontTimeout = 2 * time.Second
	frontPause   = 60 * time.Millisecond
)

// bringToFront brings the element's window to the front, if the call may take the focus, and finds
// the element again. A window may look different in front, and the click must not hit another
// element at the old place.
func (v *view) bringToFront(ctx context.Context, m match) (match, error) {
	w, err := v.windowOf(ctx, m.index)
	if err != nil || w.Active {
		return m, err
	}
	ref := v.ref(m.index)
	if err := v.raiseWindow(ctx, w); err != nil {
		return m, err
	}
	for until := time.Now().Add(frontTimeout); ; {
		before := v.snapshot.Version
		if aai.Sleep(ctx, frontPause) != nil {
			return m, guierr.Unreadable(ctx.Err())
		}
		if err := v.refresh(ctx); err != nil {
			return m, err
		}
		if v.snapshot.Version == before || time.Now().After(until) {
			break
		}
	}
	i, err := v.refs.Resolve(v.snapshot, ref)
	if err != nil {
		e := *aai.AsError(err)
		e.Hint = "The window changed when it came to the front. " + e.Hint
		return m, &e
	}
	return v.awaitReady(ctx, match{i, m.strategy}, ref)
}

// windowAt returns the program's window that contains the point. In the background it may be
// covered by others.
func (v *view) windowAt(ctx context.Context, at desktop.Point) (desktop.WindowInfo, error) {
	own, err := v.appWindows(ctx)
	if err != nil {
		return desktop.WindowInfo{}, err
	}
	for _, w := range own {
		if w.Frame.Contains(at) && !w.Minimized {
			return w, nil
		}
	}
	e := aai.Errorf(aai.InvalidParams, "x, y: the point %d, %d is in no window of %s", at.X, at.Y, aai.CleanLabel(v.app.Name, 60))
	e.Hint = "ax_list_windows says where its windows are."
	return desktop.WindowInfo{}, e
}

// innermost returns the innermost element that matches such and is visible at the point in the window, or -1. It ignores
// elements in the program's other windows.
func (v *view) innermost(ctx context.Context, at desktop.Point, w desktop.WindowInfo, such func(*desktop.Element) bool) (int, error) {
	own, err := v.appWindows(ctx)
	if err != nil {
		return -1, err
	}
	found := -1
	for _, top := range v.snapshot.Children(-1) {
		if shows, sure := programs.BestWindow(own, &v.snapshot.Elements[top]); !sure || shows.ID != w.ID {
			continue
		}
		for i := top; i < v.snapshot.Elements[top].End; i++ {
			if e := &v.snapshot.Elements[i]; such(e) && e.Frame.Contains(at) && v.snapshot.IsVisible(i) {
				found = i
			}
		}
	}
	return found, nil
}

// resolvePoint returns the screen position of the point in the arguments prefix+"x" and prefix+"y". With in_picture
// it is a point of the last screenshot of the program or the screen in this conversation. If the window has moved
// since, the point moves along.
func (v *view) resolvePoint(ctx context.Context, prefix string) (desktop.Point, error) {
	at := desktop.Point{X: params.Int(v.call, prefix+"x", 0), Y: params.Int(v.call, prefix+"y", 0)}
	if !params.Bool(v.call, "in_picture") {
		return at, nil
	}
	p, is := v.engine.Sessions.For(v.call).Screenshot(v.app)
	if !is {
		e := aai.Errorf(aai.InvalidParams, "in_picture: no picture of %s was given here", aai.CleanLabel(v.app.Name, 60))
		e.Delivery, e.Hint = aai.NotDelivered, "ax_screenshot takes one."
		return at, e
	}
	on := desktop.Point{X: p.Area.X + int(float64(at.X)/p.Scale), Y: p.Area.Y + int(float64(at.Y)/p.Scale)}
	if !p.Area.Contains(on) {
		e := aai.Errorf(aai.InvalidParams, "%sx, %sy: the point %d, %d is not in the picture, which has %d × %d pixels", prefix, prefix, at.X, at.Y, int(float64(p.Area.W)*p.Scale), int(float64(p.Area.H)*p.Scale))
		e.Delivery = aai.NotDelivered
		return at, e
	}
	if p.Window == 0 {
		return on, nil
	}
	own, err := v.appWindows(ctx)
	if err != nil {
		return on, err
	}
	i := slices.IndexFunc(own, func(w desktop.WindowInfo) bool { return w.ID == p.Window })
	if i < 0 {
		e := guierr.Failed(aai.NotDelivered, "the window that the picture shows is gone")
		aai.AsError(e).Hint = "ax_screenshot takes another."
		return on, e
	}
	return desktop.Point{X: on.X + own[i].Frame.X - p.At.X, Y: on.Y + own[i].Frame.Y - p.At.Y}, nil
}

// clickPoint returns the center of the visible part of the element, in its window or in the menu or list over it. It
// fails if no part is in view. A container that does not contain the element at all does not clip it: in GTK 3 a page
// is a child of its tab.
func (v *view) clickPoint(i int, w desktop.WindowInfo) (desktop.Point, error) {
	seen, over := v.snapshot.Elements[i].Frame, false
	for p := v.snapshot.Elements[i].Parent; p >= 0 && !over && !seen.Empty(); p = v.snapshot.Elements[p].Parent {
		parent := &v.snapshot.Elements[p]
		over = isPopupRole(parent.Role)
		if part := seen.Intersect(parent.Frame); !part.Empty() && parent.Role != desktop.Combobox && parent.Role != desktop.MenuItem {
			seen = part
		}
	}
	if !over {
		seen = seen.Intersect(w.Frame)
	}
	if seen.Empty() && v.snapshot.Elements[v.snapshot.WindowOf(i)].Frame.Empty() {
		e := guierr.Failed(aai.NotDelivered, "no place of an element is known in the window of %s, so the pointer cannot reach it", v.name(i))
		aai.AsError(e).Hint = "Act on the element by its ref in the default mode; that needs no place."
		return desktop.Point{}, e
	}
	if seen.Empty() {
		return desktop.Point{}, guierr.Failed(aai.NotDelivered, "%s is not in view, or the program does not say where it is; ax_scroll brings it into view", v.name(i))
	}
	return seen.Center(), nil
}

// isPopupRole reports whether the children of elements with the role are drawn over the window.
func isPopupRole(role desktop.Role) bool {
	return role == desktop.Menu || role == desktop.MenuItem || role == desktop.Combobox
}
