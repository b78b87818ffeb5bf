package wayland

import (
	"context"
	"errors"
	"slices"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// A presence says where the person's keyboard is, and whether the windows are out of sight.
type presence interface {
	FocusedPID(ctx context.Context) (int, error)
	PauseReason(ctx context.Context) string
}

// FocusedPID returns the process of the window with the person's keyboard, or 0 if none has it, such as while a
// launcher or a screen lock does.
func (d *Display) FocusedPID(ctx context.Context) (int, error) {
	all, err := d.windows(ctx)
	if err != nil {
		return 0, err
	}
	if i := slices.IndexFunc(all, func(w window) bool { return w.Active }); i >= 0 {
		return all[i].PID, nil
	}
	return 0, nil
}

// A layerReader is a manager that knows whether a surface over the windows, which is none itself, has the keyboard.
type layerReader interface {
	isLocked(ctx context.Context) (bool, error)
}

// PauseReason returns the reason why the person cannot see the windows, or "". It returns "" too if the compositor
// does not answer in time.
func (d *Display) PauseReason(ctx context.Context) string {
	if !d.IsOffered() {
		return ""
	}
	c, err := d.connect(ctx)
	if err != nil {
		return ""
	}
	if _, ok := c.offered("wl_output"); !ok {
		return "no monitor is connected"
	}
	m, err := d.manager(ctx)
	if err != nil {
		return ""
	}
	if r, ok := m.(layerReader); ok {
		if locked, err := r.isLocked(ctx); err == nil && locked {
			return "a screen lock, or another program that is no window, has the whole keyboard"
		}
	}
	return ""
}

// FocusedPID returns the process of the window with the person's keyboard, or 0 if there is none.
func (s *Session) FocusedPID(ctx context.Context) (int, error) {
	if s.listsWindows(ctx) {
		return s.wayland.FocusedPID(ctx)
	}
	return s.x11.FocusedPID(ctx)
}

// HasWindow reports whether the process has a window. The X server of a Wayland session knows only some windows, so
// HasWindow fails if the compositor lists none.
func (s *Session) HasWindow(ctx context.Context, pid int) (bool, error) {
	if s.wayland.IsOffered() && !s.listsWindows(ctx) {
		return false, errors.ErrUnsupported
	}
	windows, err := s.Windows(ctx)
	return slices.ContainsFunc(windows, func(w desktop.WindowInfo) bool { return w.PID == pid }), err
}

// PauseReason returns the reason why the person cannot see the windows, or "".
func (s *Session) PauseReason(ctx context.Context) string {
	if s.wayland.IsOffered() {
		return s.wayland.PauseReason(ctx)
	}
	return s.x11.PauseReason(ctx)
}
