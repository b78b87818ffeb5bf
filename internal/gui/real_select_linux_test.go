package gui_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gybob/aai-gateway"
)

// Lists with multiple selection, which log the selected rows in a file.
const (
	rowsGTK = `
import gi, os, sys
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
store = Gtk.ListStore(str)
for n in range(8): store.append(["Row %d" % n])
rows = Gtk.TreeView(model=store)
rows.append_column(Gtk.TreeViewColumn("Name", Gtk.CellRendererText(), text=0))
chosen = rows.get_selection()
chosen.set_mode(Gtk.SelectionMode.MULTIPLE)
def tell(*_):
    with open(sys.argv[1] + ".new", "w") as f: f.write(" ".join(str(p) for p in chosen.get_selected_rows()[1]))
    os.rename(sys.argv[1] + ".new", sys.argv[1])
chosen.connect("changed", tell)
window = Gtk.Window(title="Rows", default_width=300, default_height=300)
window.add(rows)
window.show_all()
tell()
Gtk.main()
`
	rowsQt = `
import os, sys
from PyQt6.QtWidgets import *
app = QApplication([])
rows = QListWidget(selectionMode=QAbstractItemView.SelectionMode.ExtendedSelection, windowTitle="Rows")
for n in range(8): rows.addItem("Row %d" % n)
def tell(*_):
    with open(sys.argv[1] + ".new", "w") as f: f.write(" ".join(sorted(str(rows.row(i)) for i in rows.selectedItems())))
    os.rename(sys.argv[1] + ".new", sys.argv[1])
rows.itemSelectionChanged.connect(tell)
rows.show()
tell()
app.exec()
`
)

// TestRealSelectMore: rows are added to the selection, one or all up to it.
func TestRealSelectMore(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	for name, program := range map[string]string{"gtk3": rowsGTK, "qt6": rowsQt} {
		t.Run(name, func(t *testing.T) {
			w := w.on(t)
			file := filepath.Join(w.Home, name+".rows")
			app := w.python(name+"rows.py", program, `"Row 7"`, file)
			selected := func(want string) {
				w.Helper()
				w.eventually("selected is "+want, func() bool { text, _ := os.ReadFile(file); return string(text) == want })
			}
			row := func(n, how string) params {
				p := params{"app": app, "query": `"Row ` + n + `"`}
				if how != "" {
					p["select"] = how
				}
				return p
			}
			w.done("ax_click", row("1", ""))
			selected("1")
			w.done("ax_click", row("3", "add"))
			selected("1 3")
			a := w.done("ax_click", row("6", "range"))
			selected("1 3 4 5 6")
			if !strings.HasPrefix(a.Text, "Also selected") || !strings.Contains(w.record.last(aai.Outcome).Element.Name, "Row 4") {
				t.Errorf("it says %q, on record is %+v", a.Text, w.record.last(aai.Outcome).Element)
			}
		})
	}
}
