package wayland_test

import (
	"testing"

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
	if err := s.Activate(t.Context(), w.ID); err != nil {
		t.Fatal(err)
	}
	w = s.window(t, f.Title, isActive)
	file := s.element(t, tree, f, "File").Frame.Center()
	if err := s.Display.Click(t.Context(), desktop.PersonSeat, w.ID, file, desktop.LeftButton, 1); err != nil {
		t.Fatal(err)
	}
	var item desktop.Point
	var menu desktop.WindowInfo
	until(t, func() bool {
		item = s.element(t, tree, f, "New").Frame.Center()
		over, err := s.WindowAt(t.Context(), item)
		menu = over
		return err == nil && over.PID == f.PID && over.ID != w.ID
	})
	if err := s.Display.Click(t.Context(), desktop.PersonSeat, w.ID, item, desktop.LeftButton, 1); err == nil {
		t.Error("a click for the window went into its menu")
	}
	if err := s.Display.Click(t.Context(), desktop.PersonSeat, menu.ID, item, desktop.LeftButton, 1); err != nil {
		t.Fatal(err)
	}
	f.WaitState(t, "menu", "New")
}
