package gui_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
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

// otherLabels is a window with labels that name no field by their places: a check box, a switch and a field
// have their labels after them, and a check box stands before the label of a field. A field has a
// placeholder, and an expander hides one. The values go to a file.
const otherLabels = `
import gi, sys
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
rows = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=20)
fields = {}
def put(*parts):
    box = Gtk.Box(spacing=6)
    for part in parts:
        box.add(Gtk.Label(label=part) if isinstance(part, str) else part)
    rows.add(box)
def field(key, **more):
    fields[key] = Gtk.Entry(**more)
    return fields[key]
put(Gtk.CheckButton(), "Send copy to", field("copy"))
put(Gtk.Switch(), "Night")
put(field("after"), "After it")
put(field("held", placeholder_text="Where to"))
put("Note", field("note", placeholder_text="Anything"))
def write(*_):
    with open(sys.argv[1], "w") as f:
        for name, field in fields.items():
            f.write(name + "=" + field.get_text() + "\n")
for one in fields.values():
    one.connect("changed", write)
window = Gtk.Window(title="Other", default_width=400, default_height=200)
window.add(rows)
window.show_all()
Gtk.main()
`

// TestRealOtherLabels: labels that may belong to several controls name none, and lead to them as candidates.
// A placeholder names a field, also beside a label.
func TestRealOtherLabels(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	file := filepath.Join(t.TempDir(), "values")
	app := w.process(w.Launch(t, "python3", "-c", otherLabels, file))
	for label, candidate := range map[string]string{"Send copy to": "checkbox", "Night": "button", "After it": "textbox"} {
		_, e := w.do(w.Context(), "ax_set_value", params{"app": app, "query": label, "value": "x"})
		assert.Assert(t, e != nil, "%q was set", label)
		assert.Check(t, is.Contains(strings.Join(e.Candidates, "\n"), candidate), "%q %q", label, e.Candidates)
	}
	w.ok("ax_type", params{"app": app, "query": "Where to", "text": "there"})
	w.ok("ax_set_value", params{"app": app, "query": "Anything", "value": "some"})
	tree := w.ok("ax_get_tree", params{"app": app})
	for _, part := range []string{`textbox "Note" [`, `placed: "some"`, `textbox "Where to" [`} {
		assert.Check(t, is.Contains(tree.Text, part), "the outline lacks %s:\n%s", part, tree.Text)
	}
	w.eventually("the fields have their values", func() bool {
		b, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(b), "held=there\nnote=some\n") && strings.Contains(string(b), "copy=\nafter=\n")
	})
}

// longForm is a window with forty fields in a scroll area, each with a label beside it. The last field that
// changed goes to a file.
const longForm = `
import gi, sys
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
grid = Gtk.Grid(row_spacing=6, column_spacing=6)
def write(field, i):
    with open(sys.argv[1], "w") as f:
        f.write("%d=%s\n" % (i, field.get_text()))
for i in range(40):
    field = Gtk.Entry()
    field.connect("changed", write, i)
    grid.attach(Gtk.Label(label="Line %d" % i), 0, i, 1, 1)
    grid.attach(field, 1, i, 1, 1)
area = Gtk.ScrolledWindow()
area.add(grid)
window = Gtk.Window(title="Long", default_width=400, default_height=300)
window.add(area)
window.show_all()
Gtk.main()
`

// TestRealPlacedOutOfView: a label names the field beside it also where both are out of view, and the ref of
// a field lasts while it is scrolled away.
func TestRealPlacedOutOfView(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	file := filepath.Join(t.TempDir(), "values")
	app := w.process(w.Launch(t, "python3", "-c", longForm, file))
	has := func(want string) {
		w.eventually("the file has "+want, func() bool {
			b, err := os.ReadFile(file)
			return err == nil && string(b) == want+"\n"
		})
	}
	first := w.ok("ax_find", params{"app": app, "query": "textbox Line 1"})
	ref, _, _ := strings.Cut(first.Text[strings.Index(first.Text, "[")+1:], "]")
	w.ok("ax_set_value", params{"app": app, "query": "Line 35", "value": "far"})
	has("35=far")
	w.ok("ax_set_value", params{"app": app, "query": ref, "value": "near"})
	has("1=near")
}
