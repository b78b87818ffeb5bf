package ax

import (
	"context"
	"slices"

	"aai"
	"aai/internal/desktop"
)

// A shown is a picture that a conversation was given: what it shows, and how much smaller.
type shown struct {
	window desktop.WindowID // 0: the screen
	at     desktop.Point    // of the window, when it was taken
	area   desktop.Rect     // on the screen
	scale  float64
}

// spotProps are the parameters of a point.
const (
	xyProps     = `"x": {"type": "integer"}, "y": {"type": "integer"}`
	pictureProp = `"in_picture": {"type": "boolean", "default": false, "description": "Points are of the picture last given"}`
	pictureFlag = `"in_picture": {"type": "boolean", "default": false}`
)

// spot is a point that the call names, on the screen: its own, or that of the picture which
// the conversation was given last of this program, or of the screen. A window that has moved
// since takes its points along.
func (v *view) spot(ctx context.Context, prefix string) (desktop.Point, error) {
	at := desktop.Point{X: intArg(v.call, prefix+"x", 0), Y: intArg(v.call, prefix+"y", 0)}
	if !flagArg(v.call, "in_picture") {
		return at, nil
	}
	p, is := v.desk.sessions.of(v.call).pictureOf(v.app)
	if !is {
		e := aai.Errorf(aai.InvalidParams, "in_picture: no picture of %s was given here", aai.CleanLabel(v.app.Name, 60))
		e.Delivery, e.Hint = aai.NotDelivered, "ax_screenshot takes one."
		return at, e
	}
	on := desktop.Point{X: p.area.X + int(float64(at.X)/p.scale), Y: p.area.Y + int(float64(at.Y)/p.scale)}
	if !p.area.Holds(on) {
		e := aai.Errorf(aai.InvalidParams, "%sx, %sy: the point %d, %d is not in the picture, which has %d × %d pixels", prefix, prefix, at.X, at.Y, int(float64(p.area.W)*p.scale), int(float64(p.area.H)*p.scale))
		e.Delivery = aai.NotDelivered
		return at, e
	}
	if p.window == 0 {
		return on, nil
	}
	own, err := v.windows(ctx)
	if err != nil {
		return on, err
	}
	i := slices.IndexFunc(own, func(w desktop.WindowInfo) bool { return w.ID == p.window })
	if i < 0 {
		e := failed(aai.NotDelivered, "the window that the picture shows is gone")
		aai.AsError(e).Hint = "ax_screenshot takes another."
		return on, e
	}
	return desktop.Point{X: on.X + own[i].Frame.X - p.at.X, Y: on.Y + own[i].Frame.Y - p.at.Y}, nil
}

// show remembers the picture that the conversation is given; of the whole screen for all
// programs.
func (s *session) show(pid int, p shown) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if pid == 0 {
		clear(s.pictures)
	}
	s.pictures[pid] = p
}

// pictureOf is the picture that was given last of the program, or of the screen.
func (s *session) pictureOf(app desktop.App) (shown, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, is := s.pictures[app.PID]
	if !is {
		p, is = s.pictures[0]
	}
	return p, is
}
