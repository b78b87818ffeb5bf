package ax

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"aai"
	"aai/internal/desktop"
)

// covered is how much of a window must be hidden for it to count as covered.
const covered = 0.95

// windows lists the program's windows as the window system knows them, the front
// one first.
func (v *view) windows(ctx context.Context) ([]desktop.WindowInfo, error) {
	return windowsOf(ctx, v.backend, v.app)
}

func windowsOf(ctx context.Context, backend desktop.Backend, app desktop.App) ([]desktop.WindowInfo, error) {
	if backend.Windows == nil {
		return nil, unsupported("list of windows")
	}
	all, err := backend.Windows.Windows(ctx)
	if err != nil {
		return nil, err
	}
	var own []desktop.WindowInfo
	for _, w := range all {
		if w.PID == app.PID {
			own = append(own, w)
		}
	}
	return own, nil
}

// windowOf finds the window of the window system that shows an element, or the
// program's front window for none (-1): by the title, and by where it is.
func (v *view) windowOf(ctx context.Context, i int) (desktop.WindowInfo, error) {
	own, err := v.windows(ctx)
	if err != nil {
		return desktop.WindowInfo{}, err
	}
	if len(own) == 0 {
		return desktop.WindowInfo{}, failed(aai.NotDelivered, "%s has no window on the screen", aai.CleanLabel(v.app.Name, 60))
	}
	if i < 0 {
		return frontOf(own), nil
	}
	w, sure := likest(own, &v.shot.Elements[v.shot.Window(i)])
	if !sure {
		return w, failed(aai.NotDelivered, "which window of %s shows %s cannot be told", aai.CleanLabel(v.app.Name, 60), v.name(i))
	}
	return w, nil
}

// frontOf returns the one of a program's windows that has the keyboard, or else
// that lies before the others.
func frontOf(own []desktop.WindowInfo) desktop.WindowInfo {
	for _, w := range own {
		if w.Active {
			return w
		}
	}
	return own[0]
}

// frontTop returns the index of the element that is the program's front window,
// or -1 where that cannot be told.
func (v *view) frontTop(ctx context.Context) int {
	own, err := v.windows(ctx)
	if err != nil || len(own) == 0 {
		return -1
	}
	front := frontOf(own)
	for _, top := range v.shot.Children(-1) {
		if w, sure := likest(own, &v.shot.Elements[top]); sure && w.ID == front.ID {
			return top
		}
	}
	return -1
}

// likest returns the one of the windows that a top-level element is, and whether
// anything speaks for it. The title says more than the place.
func likest(own []desktop.WindowInfo, top *desktop.Element) (best desktop.WindowInfo, sure bool) {
	most := -1.0
	for _, w := range own {
		likeness := overlap(w.Frame, top.Frame)
		if strings.TrimSpace(w.Title) == strings.TrimSpace(top.Name) {
			likeness += 2
		}
		if likeness > most {
			best, most = w, likeness
		}
	}
	return best, most > 0 || len(own) == 1
}

// overlap is how much of both rectangles they have in common, from 0 to 1.
func overlap(a, b desktop.Rect) float64 {
	common := a.Intersect(b)
	if common.Empty() {
		return 0
	}
	area := float64(common.W * common.H)
	return area / (float64(a.W*a.H) + float64(b.W*b.H) - area)
}

// swallowed says why an action that was delivered may have done nothing, or "".
func (a deed) swallowed(ctx context.Context) string {
	if a.index < 0 || a.backend.Windows == nil || a.app.Obeys {
		return ""
	}
	own, err := a.windows(ctx)
	if err != nil || len(own) == 0 {
		return ""
	}
	w := own[0]
	name := aai.CleanLabel(a.app.Name, 60)
	switch {
	case w.Minimized:
		return fmt.Sprintf("the window of %s is minimized, and some programs do nothing then", name)
	case w.Covered >= covered:
		return fmt.Sprintf("the window of %s is covered by others, and some programs, such as Chromium, do nothing then", name)
	}
	return ""
}

// point is where to click an element: the middle of what is seen of it in its
// window, or in the menu or list that lies over that.
func (v *view) point(i int, w desktop.WindowInfo) (desktop.Point, error) {
	seen, over := v.shot.Elements[i].Frame, false
	for p := v.shot.Elements[i].Parent; p >= 0 && !over && !seen.Empty(); p = v.shot.Elements[p].Parent {
		parent := &v.shot.Elements[p]
		over = opens(parent.Role)
		if !parent.Frame.Empty() && parent.Role != desktop.Combobox && parent.Role != desktop.MenuItem {
			seen = seen.Intersect(parent.Frame)
		}
	}
	if !over {
		seen = seen.Intersect(w.Frame)
	}
	if seen.Empty() {
		return desktop.Point{}, failed(aai.NotDelivered, "%s is not in view, or the program does not say where it is; ax_scroll brings it into view", v.name(i))
	}
	return seen.Center(), nil
}

// opens reports whether what is in elements of the role is drawn over the window.
func opens(role desktop.Role) bool {
	return role == desktop.Menu || role == desktop.MenuItem || role == desktop.Combobox
}

// over returns the window that is to be clicked at the point: the one that is
// meant, or a menu or list of the program that lies over it, of which the window
// system says nothing but that it is there.
func (v *view) over(ctx context.Context, w desktop.WindowInfo, at desktop.Point) desktop.WindowID {
	seen, err := v.backend.Windows.At(ctx, at)
	if err != nil || seen.PID != v.app.PID || seen.ID == w.ID {
		return w.ID
	}
	own, err := v.windows(ctx)
	if err != nil || slices.ContainsFunc(own, func(o desktop.WindowInfo) bool { return o.ID == seen.ID }) {
		return w.ID
	}
	return seen.ID
}

// front brings the window to the front where the call may take the focus.
func (v *view) front(ctx context.Context, w desktop.WindowInfo) error {
	if !inFocus(v.call) || w.Active {
		return nil
	}
	if err := v.backend.Windows.Activate(ctx, w.ID); err != nil {
		return err
	}
	return v.awaitFront(ctx, w)
}

// awaitFront waits until the window has the keyboard: what is typed before would go
// to another.
func (v *view) awaitFront(ctx context.Context, w desktop.WindowInfo) error {
	for until := time.Now().Add(frontPatience); ; {
		own, err := v.windows(ctx)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(own, func(o desktop.WindowInfo) bool { return o.ID == w.ID && o.Active }) {
			return nil
		}
		if time.Now().After(until) {
			return failed(aai.NotDelivered, "the window %q does not come to the front", aai.CleanLabel(w.Title, 60))
		}
		select {
		case <-time.After(lookAgain / 10):
		case <-ctx.Done():
			return unread(ctx.Err())
		}
	}
}

// seat is the pointer and keyboard that the call may use, and its name in a reply.
func (v *view) seat() (desktop.Seat, string) {
	if inFocus(v.call) {
		return desktop.PersonSeat, "the person's pointer and keyboard"
	}
	return desktop.OwnSeat, "a second pointer and keyboard, in the background"
}

// An inputting makes input in a window as the seat does.
type inputting func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error

// byInput is a way that uses pointer and keyboard on the window that shows the
// element (-1: the front one).
func (v *view) byInput(i int, do inputting) way {
	return v.byInputIn(func(ctx context.Context) (desktop.WindowInfo, error) { return v.windowOf(ctx, i) }, do)
}

// byInputIn is byInput on a window that is found when the way is taken.
func (v *view) byInputIn(find func(context.Context) (desktop.WindowInfo, error), do inputting) way {
	seat, name := v.seat()
	return way{name: name, do: func(ctx context.Context) error {
		if v.backend.Input == nil {
			return unsupported("pointer and keyboard")
		}
		w, err := find(ctx)
		if err != nil {
			return err
		}
		if err := v.front(ctx, w); err != nil {
			return err
		}
		if v.sight != nil {
			v.sight.begin(ctx, w)
		}
		return do(ctx, v.backend.Input, seat, w)
	}}
}

// byAsking is a way that asks the program to act on the element.
func (v *view) byAsking(i int, name string, act desktop.Act) way {
	return way{name: name, asks: true, do: func(ctx context.Context) error {
		if v.backend.Actor == nil {
			return unsupported("actions on elements")
		}
		e := &v.shot.Elements[i]
		act.Name = e.Name
		return v.backend.Actor.Perform(ctx, v.app, e.ID, act)
	}}
}
