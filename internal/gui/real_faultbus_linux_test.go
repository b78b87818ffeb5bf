package gui_test

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
	"github.com/gybob/aai-gateway/internal/testkit/tokencount"
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

// TestRealLongList: a list of ten thousand rows costs its program and the reply no more than its
// visible part, and the reply says that there is more.
func TestRealLongList(t *testing.T) {
	w := parallelWorld(t)
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			w := w.on(t)
			f := w.Rows(t, kind, 10_000)
			app := w.process(f.App)
			w.awaitElement(app, rowNamed(kind, "Row 5"))
			a := w.quick("ax_get_tree", params{"app": app})
			n := tokencount.Count(w, a.Text)
			assert.Check(t, n <= firstPage, "the page has %d tokens", n)
			switch kind {
			case linuxtest.GTK4: // has only the rows that it shows, a few screens, and reports no total
			case linuxtest.Chromium:
				w.says(a.Text, "10000 items")
			default:
				w.says(a.Text, "not read)")
			}
			w.ok("ax_click", params{"app": app, "query": rowNamed(kind, "Row 7")})
			f.WaitState(t, "row", "Row 7")
			w.eventually("one row is shown as selected", func() bool {
				return strings.Count(w.quick("ax_get_tree", params{"app": app}).Text, " selected") == 1
			})
		})
	}
}

// TestRealSheet: a sheet has 2,147,483,647 cells, and its program tries to create each one that is
// read. Few are read.
func TestRealSheet(t *testing.T) {
	w := parallelWorld(t)
	_, pid := w.spreadsheet()
	app := strconv.Itoa(pid)
	w.awaitElement(app, "cell B3")
	before := residentMiB(t, pid)
	for range 5 {
		fresh := joined(t, w.Session, w.Getenv) // it has no cache, and reads everything
		a := fresh.ok("ax_get_tree", params{"app": app})
		w.says(a.Text, "not read)", "A1")
		n := tokencount.Count(w, a.Text)
		assert.Check(t, n <= firstPage, "the page has %d tokens", n)
	}
	const most = 50
	after := residentMiB(t, pid)
	t.Logf("%d MiB before, %d after", before, after)
	assert.Check(t, after-before <= most, "it had %d MiB before and %d after it was read, want at most %d more", before, after, most)
	w.ok("ax_set_value", params{"app": app, "query": "cell B3", "value": "42.5"})
	value := w.ok("ax_get_value", params{"app": app, "query": "cell B3"}).data["value"]
	assert.Check(t, is.Equal(value, "42.5"), "the cell holds %v", value)
	w.ok("ax_set_value", params{"app": app, "query": "cell C4", "value": "7"})
}

// residentMiB returns the memory of the process, from proc(5).
func residentMiB(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	assert.NilError(t, err)
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.Atoi(strings.Fields(value)[0])
			assert.NilError(t, err)
			return kib >> 10
		}
	}
	t.Fatalf("process %d has no memory", pid)
	return 0
}
