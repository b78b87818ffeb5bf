package gui_test

import (
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestRealBusRestarts: after the accessibility bus has ended, programs of the old one are
// unreadable, with an error for that, and those of the new one are found.
func TestRealBusRestarts(t *testing.T) {
	w := ownWorld(t)
	f, app := w.open(linuxtest.GTK3)
	w.ok("ax_click", press(app))
	f.WaitState(t, "presses", 1)
	w.RestartA11y(t)
	e := w.fails(within, aai.AutomationNotSupported, aai.NotDelivered, "ax_click", press(app))
	w.says(e.Message, "shows no tree")
	w.says(e.Hint, "started again")
	w.works(linuxtest.GTK3)
	n := presses(t, f)
	assert.Check(t, n == 1, "the program of the old bus was pressed %v times", n)
}

// works opens a window and operates it.
func (w *realWorld) works(kind linuxtest.Kind) {
	w.Helper()
	f, app := w.open(kind)
	w.ok("ax_click", press(app))
	f.WaitState(w.T, "presses", 1)
}

// TestRealBusDies: without session bus and accessibility bus nothing is readable, and the errors
// give the reason; tools that need neither still work. When the buses are back, everything works.
func TestRealBusDies(t *testing.T) {
	w := ownWorld(t)
	f, app := w.open(linuxtest.GTK3)
	w.ok("ax_click", press(app))
	f.WaitState(t, "presses", 1)
	w.StopA11y(t)
	w.StopBus()
	w.withoutTrees(app)
	n := presses(t, f)
	assert.Check(t, n == 1, "it was pressed %v times", n)
	w.RestartBus(t)
	w.A11yAddress(t) // otherwise programs look for the old one, at the address on the root window
	w.EnableAccessibility(t)
	w.works(linuxtest.GTK3)
}

// TestRealNoBus: there is no session bus at all.
func TestRealNoBus(t *testing.T) {
	s := linuxtest.Start(t)
	joined(t, s, without(s, "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR")).withoutTrees("anything")
}

// withoutTrees checks the replies with a screen and without a bus.
func (w *realWorld) withoutTrees(app string) {
	w.Helper()
	for _, call := range []struct {
		tool string
		args params
	}{
		{"ax_list_apps", nil},
		{"ax_screenshot", nil}, // the owner of the windows is unknown
		{"ax_get_tree", params{"app": app}},
		{"ax_click", press(app)},
		{"ax_click_at", params{"app": app, "x": 10, "y": 10, "mode": "focus"}},
	} {
		e := w.fails(within, aai.AutomationNotSupported, undelivered(call.tool), call.tool, call.args)
		w.says(e.Message, "session bus")
		w.says(e.Hint, "aai-gateway check")
	}
	ready := w.quick("ax_is_accessible", nil)
	assert.Check(w, is.Equal(ready.data["enabled"], false), ready.data)
	assert.Check(w, ready.data["suggestion"] != "", "without a bus it is ready: %v", ready.data)
	w.quick("ax_clipboard", params{"action": "write", "text": "kept"})
	a := w.quick("ax_clipboard", params{"action": "read"})
	assert.Check(w, is.Equal(a.data["text"], "kept"), "the clipboard holds %v", a.data)
	w.quick("ax_session_info", nil)
}

// TestRealNoDisplay: without a screen, trees can still be read and operated in the background.
func TestRealNoDisplay(t *testing.T) {
	s := linuxtest.StartAccessible(t)
	w := joined(t, s, without(s, "DISPLAY", "XAUTHORITY"))
	f, app := w.open(linuxtest.GTK3)
	w.ok("ax_click", press(app))
	w.ok("ax_type", params{"app": app, "query": "Full name", "text": "Ann"})
	w.ok("ax_set_value", params{"app": app, "query": "Volume", "value": "70"})
	f.WaitState(t, "name", "Ann")
	f.WaitState(t, "volume", 70)
	for _, call := range []struct {
		tool string
		args params
	}{
		{"ax_list_windows", params{"app": app}},
		{"ax_screenshot", nil},
		{"ax_screenshot", params{"app": app}},
		{"ax_click", params{"app": app, "query": "button Press", "mode": "focus"}},
		{"ax_click", params{"app": app, "query": "button Press", "click_type": "double"}},
		{"ax_key_press", params{"app": app, "key": "Return"}},
		{"ax_clipboard", params{"action": "read"}},
	} {
		e := w.fails(within, aai.AutomationNotSupported, undelivered(call.tool), call.tool, call.args)
		w.says(e.Message, "X11 screen")
		w.says(e.Hint, "aai-gateway check")
	}
	n := presses(t, f)
	assert.Check(t, n == 1, "it was pressed %v times", n)
}

// undelivered returns the delivery of a failed call: "" for tools that only read.
func undelivered(tool string) aai.Delivery {
	if toolNamed(tool).Effect == aai.Reads {
		return ""
	}
	return aai.NotDelivered
}

// without returns the session's environment without some variables.
func without(s *linuxtest.Session, names ...string) func(string) string {
	return func(name string) string {
		if slices.Contains(names, name) {
			return ""
		}
		return s.Getenv(name)
	}
}
