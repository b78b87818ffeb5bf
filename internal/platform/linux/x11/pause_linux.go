package x11

import (
	"context"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// frameLifetime is the time for which a window manager may show the frame of a window that has closed.
const frameLifetime = 100 * time.Millisecond

// PauseReason returns the reason why the person cannot see the windows on this screen, or "". It
// returns "" too if the X server does not answer in time.
func (d *Display) PauseReason(ctx context.Context) string {
	s, err := d.server(ctx)
	if err != nil {
		return ""
	}
	if off, err := s.lacksMonitor(ctx); err == nil && off {
		return "no monitor is connected"
	}
	covered, err := s.isCovered(ctx)
	if err == nil && covered && aai.Sleep(ctx, frameLifetime) == nil {
		covered, err = s.isCovered(ctx)
	}
	if err == nil && covered {
		return "a window without a frame covers the whole screen, as a screen lock does"
	}
	return ""
}

// lacksMonitor reports whether the screen has outputs but no monitor is in use; RandR, "GetMonitors".
func (s *server) lacksMonitor(ctx context.Context) (bool, error) {
	if s.randr == 0 {
		return false, nil
	}
	const getScreenResourcesCurrent, getMonitors = 25, 42
	resources, monitors := query(s.randr, getScreenResourcesCurrent, s.root), query(s.randr, getMonitors, s.root, true, pad(3))
	if err := s.must(ctx, resources, monitors); err != nil {
		return false, err
	}
	r := from(resources.reply, 18)
	outputs := r.u16()
	m := from(monitors.reply, 12)
	return outputs > 0 && m.u32() == 0, nil
}

// isCovered reports whether a window that the window manager does not manage lies above all others,
// covers the whole screen and catches all clicks. Without a window manager it returns false.
func (s *server) isCovered(ctx context.Context) (bool, error) {
	managed, err := s.managed(ctx)
	if err != nil || !managed {
		return false, err
	}
	sc, err := s.look(ctx)
	if err != nil {
		return false, err
	}
	for i, t := range slices.Backward(sc.tops) {
		if !t.shown || len(t.solid) == 0 {
			continue
		}
		if slices.ContainsFunc(sc.clients, func(c client) bool { return c.top == i }) {
			return false, nil
		}
		left := []desktop.Rect{sc.screen}
		for _, solid := range t.solid {
			left = subtract(left, solid)
		}
		if len(left) == 0 {
			return true, nil
		}
	}
	return false, nil
}
