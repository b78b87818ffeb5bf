package gui_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// entryLine is a sheet with an entry line that takes only text typed while it has the keyboard: return in the sheet
// empties it.
const entryLine = `
import gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk, Gdk
rows = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
line, place = Gtk.Entry(), Gtk.Label(label="A1")
sheet = Gtk.DrawingArea(can_focus=True)
sheet.set_size_request(200, 200)
def pressed(_, event):
    if event.keyval == Gdk.KEY_Return:
        line.set_text("")
        place.set_text("A2")
sheet.connect("key-press-event", pressed)
rows.add(line), rows.add(place), rows.add(sheet)
window = Gtk.Window(title="Sheet")
window.add(rows)
window.show_all()
sheet.grab_focus()
Gtk.main()
`

// TestRealEntryLine: return without a target warns that the text set before is gone.
func TestRealEntryLine(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	app := w.python("sheet.py", entryLine, "A1")
	w.done("ax_set_value", params{"app": app, "query": "role:textbox", "value": "=6*7"})
	a := w.ok("ax_key_press", params{"app": app, "key": "return"})
	w.says(a.Warning, "whose text is gone", "ax_type with submit")
	assert.Check(t, is.Equal(at(a.data, "verified"), false), "it counts as seen to be done: %v", a.data)
}
