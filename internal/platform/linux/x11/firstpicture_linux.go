package x11

import (
	"context"
	"image"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// Times for a window to draw itself before its first screenshot. Some windows draw in
// several steps, so the window must be quiet for a moment.
const (
	repaintPause    = 5 * time.Millisecond
	repaintQuiet    = 60 * time.Millisecond
	repaintPatience = 500 * time.Millisecond
)

// firstPicture redirects a window and waits until it has drawn all that was hidden. At first its buffer holds the screen's
// content at its place, so there the windows above it. If a hidden part stays undrawn, the window is not redirected any
// longer, and the next picture is a first one again.
func (d *Display) firstPicture(ctx context.Context, s *server, t top, frame desktop.Rect, hidden []desktop.Rect) (*image.RGBA, error) {
	const redirectWindow, unredirectWindow, automatic = 1, 3, 0
	redirection := func(opcode byte) *call { return command(s.composite, opcode, t.id, byte(automatic), pad(3)) }
	if len(hidden) == 0 {
		if err := s.must(ctx, redirection(redirectWindow)); err != nil {
			return nil, err
		}
		return d.capturePixmap(ctx, s, t, frame)
	}
	w, err := s.watch(ctx, t)
	if err != nil {
		return nil, err
	}
	defer w.end(ctx)
	err = s.must(ctx, redirection(redirectWindow))
	if err == nil {
		err = w.awaitDrawing(ctx, hidden)
	}
	if err != nil {
		// The window may be gone, and its redirection with it.
		_ = s.cleanUp(ctx, func(ctx context.Context) error { return s.do(ctx, redirection(unredirectWindow)) })
		return nil, err
	}
	return d.capturePixmap(ctx, s, t, frame)
}

// A watch detects drawing into a top-level window, by the extensions DAMAGE and XFIXES.
type watch struct {
	*server
	origin         desktop.Point
	damage, region xid
}

// watch starts to watch a window.
func (s *server) watch(ctx context.Context, t top) (*watch, error) {
	if s.damage == 0 || s.xfixes == 0 {
		return nil, unsupportedError("this X server cannot tell whether a covered window has drawn itself: it lacks DAMAGE or XFIXES",
			"Activate the window first.")
	}
	const damageCreate, nonEmpty, createRegion = 1, 3, 5
	w := &watch{s, desktop.Point{X: t.frame.X, Y: t.frame.Y}, s.newID(), s.newID()}
	return w, s.must(ctx, command(s.damage, damageCreate, w.damage, t.id, byte(nonEmpty), pad(3)),
		command(s.xfixes, createRegion, w.region))
}

// awaitDrawing waits until the window has drawn all the undrawn rectangles of the screen and is quiet, or draws for
// repaintPatience. It fails if a part stays undrawn.
func (w *watch) awaitDrawing(ctx context.Context, undrawn []desktop.Rect) error {
	var last time.Time // of the last drawing
	for deadline := time.Now().Add(repaintPatience); time.Now().Before(deadline); {
		now, err := w.drawn(ctx)
		if err != nil {
			return err
		}
		for _, r := range now {
			undrawn, last = desktop.Subtract(undrawn, r), time.Now()
		}
		if len(undrawn) == 0 && time.Since(last) >= repaintQuiet {
			return nil
		}
		if err := aai.Sleep(ctx, repaintPause); err != nil {
			return err
		}
	}
	if len(undrawn) == 0 {
		return nil // the window draws all the time
	}
	e := aai.Errorf(aai.AutomationFailed, "the window is covered and has not drawn itself anew, so what it shows is not known")
	e.Hint = "The program may hang. Try again, or ask the person to bring the window to the front."
	e.Delivery = aai.NotDelivered
	return e
}

// drawn returns the rectangles of the screen in which the window was drawn since the last call of drawn.
func (w *watch) drawn(ctx context.Context) ([]desktop.Rect, error) {
	const damageSubtract, fetchRegion = 3, 19
	region := query(w.xfixes, fetchRegion, w.region)
	if err := w.must(ctx, command(w.server.damage, damageSubtract, w.damage, none, w.region), region); err != nil {
		return nil, err
	}
	r := from(region.reply, 32)
	drawn := make([]desktop.Rect, len(r.rest)/8)
	for i := range drawn {
		drawn[i] = desktop.Rect{X: w.origin.X + r.i16(), Y: w.origin.Y + r.i16(), W: int(r.u16()), H: int(r.u16())}
	}
	return drawn, nil
}

// end stops watching.
func (w *watch) end(ctx context.Context) {
	const damageDestroy, destroyRegion = 2, 10
	// The window may be gone, and its damage object with it.
	_ = w.cleanUp(ctx, func(ctx context.Context) error {
		return w.do(ctx, command(w.server.damage, damageDestroy, w.damage), command(w.xfixes, destroyRegion, w.region))
	})
}
