package gui_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// A window with a button that starts work and shows the result when it is done, as programs do on a
// busy computer.
const worksGTK = `
import gi, os, sys, time
gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk
window, box = Gtk.Window(title="Works"), Gtk.VBox()
start, done, enter = Gtk.Button(label="Start"), Gtk.Button(label="Done"), Gtk.Button(label="Enter")
done.connect("clicked", lambda *_: window.set_title("Done with it"))
enter.set_sensitive(False)
def work(*_):
    child = os.fork()
    if not child:
        until = time.monotonic() + float(sys.argv[1])
        while time.monotonic() < until: pass
        os._exit(0)
    GLib.child_watch_add(GLib.PRIORITY_DEFAULT, child, lambda *_: (done.show(), enter.set_sensitive(True)))
start.connect("clicked", work)
for each in (start, done, enter): box.add(each)
window.add(box); window.show_all(); done.hide()
Gtk.main()
`

// TestRealAtWork: a call waits longer than usual for an element, or for its enabled state, while
// the program works; an absent one is reported when the program rests.
func TestRealAtWork(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]struct{ query, seconds string }{"there": {"Done", "1.5"}, "enabled": {"Enter", "3"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newRealWorld(t)
			app := w.python("works.py", worksGTK, "button Start", next.seconds)
			w.ok("ax_click", params{"app": app, "query": "button Start"})
			w.ok("ax_click", params{"app": app, "query": "button " + next.query})
			e := w.refused(aai.ElementNotFound, "ax_click", params{"app": app, "query": "button Never"})
			assert.Check(t, is.Equal(e.Delivery, aai.NotDelivered))
		})
	}
}
