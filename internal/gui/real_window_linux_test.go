package gui_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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
		if a.data["done"] != true {
			t.Errorf("%s: %s %v", action, a.Text, a.data)
		}
		return a
	}
	listed := func() map[string]any {
		rows, _ := w.ok("ax_list_windows", params{"app": app}).data["windows"].([]any)
		row, _ := rows[0].(map[string]any)
		return row
	}
	does("minimize")
	if listed()["minimized"] != true {
		t.Errorf("it is not minimized: %v", listed())
	}
	w.says(does("minimize").Text, "is in this state already")
	does("restore")
	if listed()["minimized"] == true {
		t.Errorf("it is minimized: %v", listed())
	}
	p.undisturbed(t)
	w.Cover(t, f)
	does("raise")
	if listed()["covered"] != 0.0 {
		t.Errorf("it is covered: %v", listed())
	}
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
	if err := os.WriteFile(file, []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	app := w.process(w.Launch(t, "mousepad", "--disable-server", file))
	w.awaitElement(app, "role:textbox")
	closing := params{"app": app, "action": "close"}
	if !w.destroys(closing) || w.destroys(params{"app": app, "action": "minimize"}) {
		t.Error("to close a window may destroy, to minimize it does not")
	}
	w.ok("ax_type", params{"app": app, "query": "role:textbox", "text": "b"})
	a := w.ok("ax_window", closing)
	if a.data["done"] != false || !strings.Contains(a.Text, "asks") || a.Warning == "" {
		t.Errorf("%s %v %q", a.Text, a.data, a.Warning)
	}
}

// destroys reports whether a call of ax_window is judged as irreversible.
func (w *realWorld) destroys(p params) bool {
	w.Helper()
	call := &aai.Call{App: w.tools.ID, Tool: "ax_window", Args: p}
	target, err := w.tools.Operator.FindTarget(w.Context(), call, p["app"].(string))
	if err != nil {
		w.Fatal(err)
	}
	call.Target = target
	return w.tools.Operator.ResolveTarget(w.Context(), call).Irreversible
}

// TestRealNoWindowManager: without a window manager the tool returns an error that says so.
func TestRealNoWindowManager(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	_, app := w.open(linuxtest.GTK3)
	for _, p := range w.Programs() {
		if p.Name != "openbox" {
			continue
		}
		if err := p.End(); err != nil {
			t.Fatal(err)
		}
	}
	e := w.refused(aai.AutomationNotSupported, "ax_window", params{"app": app, "action": "minimize"})
	w.says(e.Message, "no window manager")
	if e.Delivery != aai.NotDelivered || e.Hint == "" {
		t.Errorf("%+v", e)
	}
}
