package wayland_test

import (
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// listsWindows reports whether a compositor has an interface with the places of windows.
func listsWindows(c linuxtest.Compositor) bool {
	return c == linuxtest.Sway || c == linuxtest.KWin || c == linuxtest.GNOMEShell
}

// refusesWindows checks that a compositor without a list of windows is reported as such, and returns whether it is one.
func (s *session) refusesWindows(t *testing.T) bool {
	t.Helper()
	if listsWindows(linuxtest.ChosenCompositor()) {
		return false
	}
	_, err := s.Windows(t.Context())
	e := aai.AsError(err)
	assert.Assert(t, e != nil, "the list of windows: %v", err)
	assert.Equal(t, e.Code, aai.AutomationNotSupported, err)
	assert.Assert(t, e.Hint != "", "the list of windows: %v", err)
	return true
}

// window returns the first listed window with a title that fits.
func (s *session) window(t *testing.T, title string, fits func(desktop.WindowInfo) bool) desktop.WindowInfo {
	t.Helper()
	return s.windowThat(t, func(w desktop.WindowInfo) bool { return w.Title == title && fits(w) })
}

// windowThat waits for a window that fits.
func (s *session) windowThat(t *testing.T, fits func(desktop.WindowInfo) bool) (found desktop.WindowInfo) {
	t.Helper()
	until(t, func() bool {
		windows, err := s.Windows(t.Context())
		assert.NilError(t, err)
		i := slices.IndexFunc(windows, fits)
		if i >= 0 {
			found = windows[i]
		}
		return i >= 0
	})
	return found
}

func isActive(w desktop.WindowInfo) bool { return w.Active }

func isThere(desktop.WindowInfo) bool { return true }

// TestWaylandWindows: the list says process, title, order and focus, and the requests have their effects.
func TestWaylandWindows(t *testing.T) {
	s := newSession(t)
	if !listsWindows(linuxtest.ChosenCompositor()) {
		_, err := s.Windows(t.Context())
		assert.Check(t, is.Equal(aai.AsError(err).Code, aai.AutomationNotSupported), "the list without places: %v", err)
		return
	}
	gtk, qt := s.Fixture(t, linuxtest.GTK4), s.Fixture(t, linuxtest.Qt6)
	first, second := s.window(t, gtk.Title, isThere), s.window(t, qt.Title, isThere)
	assert.Check(t, is.Equal(first.PID, gtk.PID), "%q has the process %d, listed is %d", gtk.Title, gtk.PID, first.PID)
	assert.NilError(t, s.Activate(t.Context(), first.ID))
	first = s.window(t, gtk.Title, isActive)
	if linuxtest.ChosenCompositor() == linuxtest.KWin { // the seats of the others have no keyboard without devices
		gtk.WaitState(t, "focused", true)
	}
	at := desktop.Point{X: first.Frame.X + first.Frame.W/2, Y: first.Frame.Y + first.Frame.H/2}
	over, err := s.WindowAt(t.Context(), at)
	assert.NilError(t, err, "%+v", over)
	assert.Equal(t, over.ID, first.ID, "%+v", over)
	assert.Check(t, second.ID != first.ID, "both windows have one number")
	s.minimize(t, qt.Title, second.ID)
	assert.NilError(t, s.Manage(t.Context(), second.ID, desktop.Close))
	until(t, func() bool {
		windows, err := s.Windows(t.Context())
		return err == nil && !slices.ContainsFunc(windows, func(w desktop.WindowInfo) bool { return w.ID == second.ID })
	})
	assert.Check(t, s.Activate(t.Context(), second.ID) != nil, "a closed window came to the front")
}

// minimize minimizes a window and restores it, where the compositor can.
func (s *session) minimize(t *testing.T, title string, id desktop.WindowID) {
	t.Helper()
	err := s.Manage(t.Context(), id, desktop.Minimize)
	if linuxtest.ChosenCompositor() == linuxtest.Sway {
		assert.Check(t, is.Equal(aai.AsError(err).Code, aai.AutomationNotSupported), "sway minimizes: %v", err)
		return
	}
	assert.NilError(t, err)
	s.window(t, title, func(w desktop.WindowInfo) bool { return w.Minimized && w.Covered == 1 })
	assert.NilError(t, s.Manage(t.Context(), id, desktop.Restore))
	s.window(t, title, func(w desktop.WindowInfo) bool { return !w.Minimized })
}
