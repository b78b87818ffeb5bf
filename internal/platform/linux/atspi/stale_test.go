//go:build linux

package atspi_test

import (
	"os/exec"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/atspi"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"

	"github.com/google/go-cmp/cmp"
)

// A happening is an action of a person in a fixture's window, or a change without an event, with the
// condition for its completion.
type happening struct {
	name string
	do   func(t *testing.T, h *scene)
}

// A scene is a fixture with a window that a Bus has just read twice.
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
		{"list filled anew", func(t *testing.T, h *scene) { // Qt sends no event
			h.f.Press(t, "Shuffle")
			h.f.WaitState(t, "shuffled", 1)
		}},
		{"list filled anew, and nothing else", func(t *testing.T, h *scene) { // the focus stays: no Qt event at all
			h.f.Press(t, "Shuffle")
			h.f.WaitState(t, "shuffled", 2)
		}},
		{"list scrolled", func(t *testing.T, h *scene) { // few toolkits send an event
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
	out, err := c.CombinedOutput()
	assert.NilError(t, err, "%v %s", args, out)
}

// TestNothingStale checks that the next snapshot after any change, with or without an event, shows the
// current state: that read by a fresh Bus, before and after.
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

// warm takes snapshots until all are the same, which means that the cache is used.
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

// tellsTheTruth takes a snapshot between two of a fresh Bus. If those two are alike, it must equal them.
func (w *world) tellsTheTruth(t *testing.T, app desktop.App, after string) {
	t.Helper()
	for range 20 {
		before := w.fresh(t, app)
		kept := w.snapshot(t, app)
		if cmp.Diff(before.Elements, w.fresh(t, app).Elements) != "" {
			continue // the app is still changing
		}
		assert.Assert(t, is.DeepEqual(before.Elements, kept.Elements), "%q", after)
		return
	}
	t.Fatalf("after %q the app never came to rest", after)
}

// fresh returns a snapshot of a Bus with an empty cache.
func (w *world) fresh(t *testing.T, app desktop.App) *desktop.Snapshot {
	t.Helper()
	bus := atspi.New(atspi.Config{Getenv: w.Getenv, Windows: w.windows})
	defer bus.Close()
	s, err := bus.Snapshot(t.Context(), app)
	assert.NilError(t, err)
	return s
}
