package wayland_test

import (
	"slices"
	"testing"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/atspi"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestWaylandChromium: a click arrives in the page of Chromium. On a scaled monitor, where the frames in a page are not
// in the pixels of the window, elements have no places.
func TestWaylandChromium(t *testing.T) {
	if linuxtest.ChosenCompositor() != linuxtest.Sway {
		return // only sway's tests have Chromium
	}
	s := newSession(t)
	tree, plain := s.newTree(t), atspi.New(atspi.Config{Getenv: s.Getenv})
	t.Cleanup(plain.Close)
	f := s.Fixture(t, linuxtest.Chromium)
	s.checkClick(t, tree, f)
	for _, scale := range []string{"2", "1.5"} {
		s.output(t, "swaymsg", "output HEADLESS-1 scale "+scale)
		s.checkNoPlaces(t, tree, plain, f)
	}
}

// checkClick clicks into the fixture.
func (s *session) checkClick(t *testing.T, tree *atspi.Bus, f *linuxtest.Fixture) {
	t.Helper()
	if dx, dy := s.clickedAt(t, tree, f); max(dx, -dx, dy, -dy) > 1 {
		t.Errorf("a click into %s arrived %d,%d pixels away", f.Kind, dx, dy)
	}
}

// checkNoPlaces waits until accessibility says the size of the window that the compositor says, and checks that no
// element has a place.
func (s *session) checkNoPlaces(t *testing.T, tree, plain *atspi.Bus, f *linuxtest.Fixture) {
	t.Helper()
	until(t, func() bool {
		told, frame := snapshotOf(t, plain, f.PID).Elements[0].Frame, s.window(t, f.Title, isThere).Frame
		return told.W == frame.W && told.H == frame.H
	})
	elements := snapshotOf(t, tree, f.PID).Elements
	if i := slices.IndexFunc(elements, func(e desktop.Element) bool { return !e.Frame.Empty() }); i >= 0 {
		t.Errorf("%s %q has the place %+v, expected none", elements[i].Role, elements[i].Name, elements[i].Frame)
	}
}

// snapshotOf reads the tree of a program that is there.
func snapshotOf(t *testing.T, tree *atspi.Bus, pid int) *desktop.Snapshot {
	t.Helper()
	apps, err := tree.Apps(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(apps, func(a desktop.App) bool { return a.PID == pid })
	if i < 0 {
		t.Fatal("the program is not listed")
	}
	snapshot, err := tree.Snapshot(t.Context(), apps[i])
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}
