package wayland_test

import (
	"slices"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/atspi"
	"github.com/gybob/aai-gateway/internal/platform/linux/wayland"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// element returns the named element of a fixture, once it has a place on the screen.
func (s *session) element(t *testing.T, tree *atspi.Bus, f *linuxtest.Fixture, name string) (found desktop.Element) {
	t.Helper()
	until(t, func() bool {
		apps, err := tree.Apps(t.Context())
		assert.NilError(t, err)
		i := slices.IndexFunc(apps, func(a desktop.App) bool { return a.PID == f.PID })
		if i < 0 {
			return false
		}
		snapshot, err := tree.Snapshot(t.Context(), apps[i])
		assert.NilError(t, err)
		i = slices.IndexFunc(snapshot.Elements, func(e desktop.Element) bool { return e.Name == name && !e.Frame.Empty() })
		if i >= 0 {
			found = snapshot.Elements[i]
		}
		return i >= 0
	})
	return found
}

// newTree connects to the accessibility bus of the session.
func (s *session) newTree(t *testing.T) *atspi.Bus {
	t.Helper()
	tree := atspi.New(atspi.Config{Getenv: s.Getenv, Windows: s.Display, HasRelativeFrames: wayland.NewSession(s.Display, nil).HasRelativeFrames})
	t.Cleanup(tree.Close)
	return tree
}

// canvas returns the place of the fixture's canvas: of a button by accessibility, and from there by the fixture, since
// GTK 4.18 does not report a drawing area.
func (s *session) canvas(t *testing.T, tree *atspi.Bus, f *linuxtest.Fixture) desktop.Rect {
	t.Helper()
	press := s.element(t, tree, f, "Press").Frame.Center() // GTK 4.8 reports the button without its padding
	place := func(name string) desktop.Rect {
		var n [4]int
		for i, number := range f.State(t)["where"].(map[string]any)[name].([]any) {
			n[i] = int(number.(float64))
		}
		return desktop.Rect{X: n[0], Y: n[1], W: n[2], H: n[3]}
	}
	button, canvas := place("Press").Center(), place("Canvas")
	canvas.X, canvas.Y = canvas.X+press.X-button.X, canvas.Y+press.Y-button.Y
	return canvas
}

// clickedAt clicks the middle of the fixture's canvas and returns the distance from the place that the fixture noticed.
func (s *session) clickedAt(t *testing.T, tree *atspi.Bus, f *linuxtest.Fixture) (dx, dy int) {
	t.Helper()
	w := s.window(t, f.Title, isThere)
	assert.NilError(t, s.Activate(t.Context(), w.ID))
	s.window(t, f.Title, isActive)
	canvas := s.canvas(t, tree, f)
	before := len(f.State(t)["clicks"].([]any))
	assert.NilError(t, s.Display.Click(t.Context(), desktop.PersonSeat, w.ID, canvas.Center(), desktop.LeftButton, 1))
	var click map[string]any
	f.WaitFor(t, "the canvas was clicked", func(state map[string]any) bool {
		clicks := state["clicks"].([]any)
		if len(clicks) > before {
			click = clicks[before].(map[string]any)
		}
		return click != nil
	})
	t.Logf("%s: canvas %+v, click %v", f.Kind, canvas, click)
	return int(click["x"].(float64)) - canvas.W/2, int(click["y"].(float64)) - canvas.H/2
}

// TestWaylandPlaces: a click at the place that accessibility and the compositor say together arrives there, whatever
// shadow or decoration the toolkit draws.
func TestWaylandPlaces(t *testing.T) {
	if !listsWindows(linuxtest.ChosenCompositor()) {
		return // TestWaylandWindows judges these
	}
	s := newSession(t)
	tree := s.newTree(t)
	for _, kind := range []linuxtest.Kind{linuxtest.GTK4, linuxtest.Qt6, linuxtest.GTK3} {
		dx, dy := s.clickedAt(t, tree, s.Fixture(t, kind))
		assert.Check(t, max(dx, -dx, dy, -dy) <= 1, "a click into %s arrived %d,%d pixels away", kind, dx, dy)
	}
}
