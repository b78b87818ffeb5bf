package gui_test

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// A window with a field and a widget that draws itself. The widget logs its keys in a file, and gives the keyboard to
// the field at "!". At "?" it opens a dialog with a button that has the next letter.
const drawnGTK3 = `
import gi, sys
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
field = Gtk.Entry()
field.get_accessible().set_name("Secret")
sheet = Gtk.DrawingArea(can_focus=True)
sheet.set_size_request(200, 60)
sheet.get_accessible().set_name("Sheet")
keys = []
def pressed(_, event):
    if event.string:
        keys.append(event.string)
        with open(sys.argv[1], "w") as f: f.write("".join(keys) + ";" + field.get_text())
        sheet.queue_draw()
    if event.string == "!": field.grab_focus()
    if event.string == "?":
        dialog = Gtk.MessageDialog(transient_for=window, modal=True, text="Delete all?")
        dialog.add_button("_Cancel", 0); dialog.add_button("_Delete", 1)
        answer = dialog.run(); dialog.destroy()
        open(sys.argv[1] + ".answer", "w").write(str(answer))
    return False
def draw(_, context):
    context.move_to(10, 30)
    context.show_text("".join(keys))
sheet.connect("key-press-event", pressed)
sheet.connect("draw", draw)
field.connect("changed", lambda _: open(sys.argv[1] + ".field", "w").write(field.get_text()))
box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
box.add(field); box.add(sheet)
window = Gtk.Window(title="Drawn"); window.add(box); window.show_all()
Gtk.main()
`

// TestRealTypeIntoDrawing: text goes by keys into a widget that reports no text, and stops when the widget gives the
// keyboard away.
func TestRealTypeIntoDrawing(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	file := filepath.Join(w.Home, "keys")
	app := w.python("drawn.py", drawnGTK3, `"Sheet"`, file)
	typed := func(want string) {
		w.Helper()
		w.eventually("the widget has "+want, func() bool { text, _ := os.ReadFile(file); return string(text) == want })
	}
	w.done("ax_type", params{"app": app, "query": "Sheet", "text": "ab 1"})
	typed("ab 1;")
	w.says(w.refused(aai.InvalidParams, "ax_type", params{"app": app, "query": "Sheet", "text": "x", "clear_first": true}).Message, "reports no text")
	e := w.refused(aai.AutomationFailed, "ax_type", params{"app": app, "query": "Sheet", "text": "c!password"})
	w.says(e.Message, "after 2 of 10 characters")
	typed("ab 1c!;")
	text, _ := os.ReadFile(file + ".field")
	assert.Check(t, is.Len(text, 0))
	e = w.refused(aai.AutomationFailed, "ax_type", params{"app": app, "query": "Sheet", "text": "a?dd d"})
	w.says(e.Message, "after 2 of 6 characters")
	w.done("ax_click", params{"app": app, "query": "Cancel"})
	w.eventually("the dialog was cancelled", func() bool { text, _ := os.ReadFile(file + ".answer"); return string(text) == "0" })
}
