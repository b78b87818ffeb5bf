//go:build linux

package atspi_test

import (
	"os/exec"
	"testing"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/atspi"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"

	"github.com/google/go-cmp/cmp"
)

// A happening is something that a person does at a fixture's window, or that
// happens in it without anybody's telling, and how the fixture says that it has.
type happening struct {
	name string
	do   func(t *testing.T, h *scene)
}

// A scene is a fixture whose window a Bus has just read, twice.
type scene struct {
	*world
	f   *linuxtest.Fixture
	app desktop.App
}

func happenings() []happening {
	return []happening{
		{"typed", func(t *testing.T, h *scene) {
			h.f.Press(t, "Full name")
			h.xdotool(t, "type", "Ann Other")
			h.f.WaitState(t, "name", "Ann Other")
		}},
		{"list filled anew", func(t *testing.T, h *scene) { // Qt does not say so
			h.f.Press(t, "Shuffle")
			h.f.WaitState(t, "shuffled", 1)
		}},
		{"list filled anew, and nothing else", func(t *testing.T, h *scene) { // the focus stays: no event of Qt's at all
			h.f.Press(t, "Shuffle")
			h.f.WaitState(t, "shuffled", 2)
		}},
		{"list scrolled", func(t *testing.T, h *scene) { // few say so
			x, y := h.f.ControlRect(t, "Fruit 4").Centre()
			h.Click(t, x, y, 5)
			h.f.WaitFor(t, "the list is scrolled", func(state map[string]any) bool { return state["scroll"].(float64) > 0 })
		}},
		{"tab switched", func(t *testing.T, h *scene) {
			h.f.Press(t, "Second")
			h.f.WaitState(t, "tab", "Second")
		}},
		{"window moved", func(t *testing.T, h *scene) {
			before := h.f.WindowRect(t)
			h.xdotool(t, "windowmove", h.f.Window(t), "300", "200")
			eventually(t, "the window is elsewhere", func() bool { return h.f.WindowRect(t) != before })
		}},
		{"dialog opened", func(t *testing.T, h *scene) {
			h.f.Press(t, "Open dialog")
			h.f.WaitState(t, "dialog", "open")
		}},
		{"dialog closed", func(t *testing.T, h *scene) {
			h.xdotool(t, "key", "Escape")
			h.f.WaitState(t, "dialog", "closed")
		}},
		{"button hidden", func(t *testing.T, h *scene) {
			h.f.Press(t, "Hide")
			h.f.WaitState(t, "hidden", true)
		}},
	}
}

func (w *world) xdotool(t *testing.T, args ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "xdotool", args...)
	c.Env = w.Env
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("xdotool %v: %v, %s", args, err, out)
	}
}

// TestNothingStale: whatever happened at a window, told or not, the next snapshot
// is of what is there now. What is there now is what a Bus says that knows nothing
// yet, before and after.
func TestNothingStale(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			f, app := w.fixture(t, kind)
			w.shows(t, app, desktop.Button, "Press")
			h := &scene{w, f, app}
			for _, what := range happenings() {
				w.warm(t, app)
				what.do(t, h)
				w.tellsTheTruth(t, app, what.name)
			}
		})
	}
}

// warm takes snapshots until they are all the same one: what is kept is returned.
func (w *world) warm(t *testing.T, app desktop.App) {
	t.Helper()
	eventually(t, "the app is at rest", func() bool {
		first := w.snapshot(t, app).Version
		for range 3 {
			if w.snapshot(t, app).Version != first {
				return false
			}
		}
		return true
	})
}

// tellsTheTruth takes one snapshot between two by a Bus that has kept nothing. If
// those are alike, it is like them.
func (w *world) tellsTheTruth(t *testing.T, app desktop.App, after string) {
	t.Helper()
	for range 20 {
		before := w.fresh(t, app)
		kept := w.snapshot(t, app)
		if cmp.Diff(before.Elements, w.fresh(t, app).Elements) != "" {
			continue // it is still at it
		}
		if diff := cmp.Diff(before.Elements, kept.Elements); diff != "" {
			t.Fatalf("after %q a snapshot differs from what is (-is +snapshot):\n%s", after, diff)
		}
		return
	}
	t.Fatalf("after %q the app never came to rest", after)
}

// fresh is a snapshot by a Bus that has kept nothing.
func (w *world) fresh(t *testing.T, app desktop.App) *desktop.Snapshot {
	t.Helper()
	bus := atspi.New(atspi.Config{Getenv: w.Getenv, Windows: w.windows})
	defer bus.Close()
	s, err := bus.Snapshot(t.Context(), app)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
