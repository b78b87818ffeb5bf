package gui

import (
	"context"
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/params"
	"github.com/gybob/aai-gateway/internal/gui/programs"
)

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

// elementAt returns the innermost interactive element visible at the point in the window, or -1. It
// ignores elements in the program's other windows.
func (v *view) elementAt(ctx context.Context, at desktop.Point, w desktop.WindowInfo) (int, error) {
	return v.innermost(ctx, at, w, func(e *desktop.Element) bool { return e.Role.IsInteractive() })
}

// innermost is elementAt for elements that match such.
func (v *view) innermost(ctx context.Context, at desktop.Point, w desktop.WindowInfo, such func(*desktop.Element) bool) (int, error) {
	own, err := v.appWindows(ctx)
	if err != nil {
		return -1, err
	}
	found := -1
	for _, top := range v.Snapshot.Children(-1) {
		if shows, sure := programs.BestWindow(own, &v.Snapshot.Elements[top]); !sure || shows.ID != w.ID {
			continue
		}
		for i := top; i < v.Snapshot.Elements[top].End; i++ {
			if e := &v.Snapshot.Elements[i]; such(e) && e.Frame.Contains(at) && v.Snapshot.IsVisible(i) {
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
