package gui_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestRealWindowTool: windows are minimized, restored, raised, activated and closed; the window
// system confirms it, and only activate takes the person's focus.
func TestRealWindowTool(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f, app := w.open(linuxtest.GTK3)
	p := w.somebody()
	does := func(action string) answer {
		t.Helper()
		a := w.ok("ax_window", params{"app": app, "action": action})
		assert.Check(t, is.Equal(a.data["done"], true), "%s %s %v", action, a.Text, a.data)
		return a
	}
	listed := func() map[string]any {
		rows, _ := w.ok("ax_list_windows", params{"app": app}).data["windows"].([]any)
		row, _ := rows[0].(map[string]any)
		return row
	}
	does("minimize")
	assert.Check(t, is.Equal(listed()["minimized"], true), "it is not minimized: %v", listed())
	w.says(does("minimize").Text, "is in this state already")
	does("restore")
	assert.Check(t, listed()["minimized"] != true, "it is minimized: %v", listed())
	p.undisturbed(t)
	w.Cover(t, f)
	does("raise")
	assert.Check(t, is.Equal(listed()["covered"], 0.0), "it is covered: %v", listed())
	does("activate")
	w.eventually("it has the focus", func() bool { return w.ActiveWindow(t) == f.Title })
	e := w.refused(aai.ElementNotFound, "ax_window", params{"app": app, "action": "close", "window": "Nothing"})
	w.says(strings.Join(e.Candidates, " "), f.Title)
	p.back(t)
	does("close")
	<-f.Done()
}

// TestRealWindowThatAsks: a window with unsaved changes asks instead of closing, and closing it is
// judged as irreversible.
func TestRealWindowThatAsks(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	file := filepath.Join(w.Home, "a.txt")
	assert.NilError(t, os.WriteFile(file, []byte("a"), 0o600))
	app := w.process(w.Launch(t, "mousepad", "--disable-server", file))
	w.awaitElement(app, "role:textbox")
	closing := params{"app": app, "action": "close"}
	assert.Assert(t, w.destroys(closing), "to close a window may destroy, to minimize it does not")
	assert.Assert(t, !w.destroys(params{"app": app, "action": "minimize"}), "to close a window may destroy, to minimize it does not")
	w.ok("ax_type", params{"app": app, "query": "role:textbox", "text": "b"})
	a := w.ok("ax_window", closing)
	assert.Equal(t, a.data["done"], false, "%v %q", a.data, a.Warning)
	assert.Assert(t, is.Contains(a.Text, "asks"), "%v %q", a.data, a.Warning)
	assert.Assert(t, a.Warning != "", "%v %q", a.data, a.Warning)
}

// destroys reports whether a call of ax_window is judged as irreversible.
func (w *realWorld) destroys(p params) bool {
	w.Helper()
	call := &aai.Call{App: w.tools.ID, Tool: "ax_window", Args: p}
	target, err := w.tools.Operator.FindTarget(w.Context(), call, p["app"].(string))
	assert.NilError(w, err)
	call.Target = target
	return w.tools.Operator.ResolveTarget(w.Context(), call).Irreversible
}

// TestRealNoWindowManager: without a window manager the tool returns an error that says so.
func TestRealNoWindowManager(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	_, app := w.open(linuxtest.GTK3)
	for _, p := range w.Programs() {
		if p.Name != "openbox" {
			continue
		}
		assert.NilError(t, p.End())
	}
	e := w.refused(aai.AutomationNotSupported, "ax_window", params{"app": app, "action": "minimize"})
	w.says(e.Message, "no window manager")
	assert.Check(t, is.Equal(e.Delivery, aai.NotDelivered), "%+v", e)
	assert.Check(t, e.Hint != "", "%+v", e)
}
