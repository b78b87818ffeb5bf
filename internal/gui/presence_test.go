package gui_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui"
)

// TestActionsPause: while the person cannot see the screen, tools that act fail with the reason, and
// tools that read work.
func TestActionsPause(t *testing.T) {
	inWorld(t, func(w *world) {
		w.d.Program("Notes").Window("Notes").Button("Save", nil)
		backend := w.d.Backend()
		backend.PauseReason = func(context.Context) string { return "the screen is locked" }
		app := gui.New(gui.Config{Open: func() desktop.Backend { return backend }})
		w.gateway.Catalog = catalog{app}
		w.ok("ax_get_tree", `{"app": "notes"}`)
		e := w.failure(aai.RateLimited, "ax_click", `{"app": "notes", "query": "Save"}`)
		assert.Check(t, is.Contains(e.Message, "the screen is locked"))
	})
}

// An indicator counts the actions that it shows.
type indicator struct {
	shown, hidden atomic.Int32
	label         atomic.Value
}

func (i *indicator) Show(label string) func() {
	i.shown.Add(1)
	i.label.Store(label)
	return func() { i.hidden.Add(1) }
}

// TestActionsAreShown: the person's sign shows during calls that act, and not during calls that read.
func TestActionsAreShown(t *testing.T) {
	inWorld(t, func(w *world) {
		w.d.Program("Notes").Window("Notes").Button("Save", nil)
		backend, sign := w.d.Backend(), &indicator{}
		backend.Indicator = sign
		app := gui.New(gui.Config{Open: func() desktop.Backend { return backend }})
		w.gateway.Catalog = catalog{app}
		w.ok("ax_get_tree", `{"app": "notes"}`)
		n := sign.shown.Load()
		assert.Check(t, n == 0, "a reading call showed the sign %d times", n)
		w.ok("ax_click", `{"app": "notes", "query": "Save"}`)
		shown, hidden := sign.shown.Load(), sign.hidden.Load()
		assert.Check(t, shown == 1, "a click showed the sign %d times and hid it %d times", shown, hidden)
		assert.Check(t, hidden == 1, "a click showed the sign %d times and hid it %d times", shown, hidden)
		label, _ := sign.label.Load().(string)
		assert.Check(t, strings.HasSuffix(label, " acts in Notes"), "the sign says %q", label)
	})
}
