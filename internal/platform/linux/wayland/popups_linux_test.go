package wayland_test

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestWaylandPopups: an open menu lies over its window, and a click on its item arrives.
func TestWaylandPopups(t *testing.T) {
	if c := linuxtest.ChosenCompositor(); c != linuxtest.KWin && c != linuxtest.GNOMEShell {
		return // the others do not tell of menus
	}
	s := newSession(t)
	tree := s.newTree(t)
	f := s.Fixture(t, linuxtest.Qt6)
	w := s.window(t, f.Title, isThere)
	assert.NilError(t, s.Activate(t.Context(), w.ID))
	w = s.window(t, f.Title, isActive)
	file := s.element(t, tree, f, "File").Frame.Center()
	assert.NilError(t, s.Display.Click(t.Context(), desktop.PersonSeat, w.ID, file, desktop.LeftButton, 1))
	var item desktop.Point
	var menu desktop.WindowInfo
	until(t, func() bool {
		item = s.element(t, tree, f, "New").Frame.Center()
		over, err := s.WindowAt(t.Context(), item)
		menu = over
		return err == nil && over.PID == f.PID && over.ID != w.ID
	})
	assert.Check(t, s.Display.Click(t.Context(), desktop.PersonSeat, w.ID, item, desktop.LeftButton, 1) != nil, "a click for the window went into its menu")
	assert.NilError(t, s.Display.Click(t.Context(), desktop.PersonSeat, menu.ID, item, desktop.LeftButton, 1))
	f.WaitState(t, "menu", "New")
}
