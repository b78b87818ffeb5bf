package gui_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// placedLabels is a window with labels beside and above fields, related by nothing but their places, and an
// editable combo box. The values of the fields go to a file.
const placedLabels = `
import gi, sys
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
fields = {"summary": Gtk.Entry(), "owner": Gtk.Entry(), "notes": Gtk.Entry(), "kind": Gtk.ComboBoxText.new_with_entry()}
fields["kind"].append_text("Branch")
def put(orientation, name, field):
    box = Gtk.Box(orientation=orientation, spacing=6)
    box.pack_start(Gtk.Label(label=name, xalign=0), False, True, 0)
    box.pack_start(field, True, True, 0)
    return box
rows = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=4)
rows.add(put(Gtk.Orientation.HORIZONTAL, "Summary", fields["summary"]))
rows.add(put(Gtk.Orientation.HORIZONTAL, "Owner of it", fields["owner"]))
rows.add(put(Gtk.Orientation.VERTICAL, "Notes", fields["notes"]))
rows.add(put(Gtk.Orientation.HORIZONTAL, "Kind", fields["kind"]))
def write(*_):
    with open(sys.argv[1], "w") as f:
        for name, field in fields.items():
            f.write(name + "=" + (field.get_child() if name == "kind" else field).get_text() + "\n")
for name, field in fields.items():
    (field.get_child() if name == "kind" else field).connect("changed", write)
window = Gtk.Window(title="Placed", default_width=400, default_height=200)
window.add(rows)
window.show_all()
Gtk.main()
`

// TestRealPlacedLabels: a label beside or above a field names it, and an editable combo box takes a text
// that is none of its options.
func TestRealPlacedLabels(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	file := filepath.Join(t.TempDir(), "values")
	app := w.process(w.Launch(t, "python3", "-c", placedLabels, file))
	for _, field := range []struct{ label, key string }{{"Summary", "summary"}, {"Owner of it", "owner"}, {"Notes", "notes"}, {"Kind", "kind"}} {
		w.ok("ax_set_value", params{"app": app, "query": field.label, "value": "for " + field.key})
		w.eventually(field.label+" has its value", func() bool {
			b, err := os.ReadFile(file)
			return err == nil && strings.Contains(string(b), field.key+"=for "+field.key+"\n")
		})
	}
	w.ok("ax_type", params{"app": app, "query": "Kind", "text": "other", "clear_first": true})
	w.eventually("Kind has the typed text", func() bool {
		b, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(b), "kind=other\n")
	})
}
