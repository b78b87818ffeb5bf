package gui_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// checkTable is a table of GTK 3 with a check box in each row. Each tick is a line of a file.
const checkTable = `
import gi, sys
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
rows = Gtk.ListStore(bool, str)
for name in "Alpha", "Beta", "Gamma", "Delta":
    rows.append([False, name])
view = Gtk.TreeView(model=rows)
def toggled(_, path):
    rows[path][0] = not rows[path][0]
    with open(sys.argv[1], "a") as f:
        f.write("%s %s\n" % (rows[path][1], rows[path][0]))
box = Gtk.CellRendererToggle()
box.connect("toggled", toggled)
view.append_column(Gtk.TreeViewColumn("Pick", box, active=0))
view.append_column(Gtk.TreeViewColumn("Name", Gtk.CellRendererText(), text=1))
window = Gtk.Window(title="Checks", default_width=300, default_height=300)
window.add(view)
window.show_all()
Gtk.main()
`

// TestRealCheckTable: boxes in the rows of a table are ticked by the row's name and by their refs. A key without a
// target does not act on another row than the selected one.
func TestRealCheckTable(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	file := filepath.Join(w.Home, "ticked")
	app := w.python("checks.py", checkTable, "Delta", file)
	p := w.somebody()
	var want []string
	ticked := func(line string) {
		t.Helper()
		want = append(want, line)
		w.eventually("ticked: "+line, func() bool {
			b, err := os.ReadFile(file)
			return err == nil && slices.Equal(strings.Split(strings.TrimSpace(string(b)), "\n"), want)
		})
	}
	if tree := w.ok("ax_get_tree", params{"app": app}).Text; strings.Count(tree, " unchecked") != 4 {
		t.Errorf("the outline does not tell of 4 empty boxes:\n%s", tree)
	}
	w.done("ax_set_value", params{"app": app, "query": "Beta", "value": "true"})
	ticked("Beta True")
	w.says(w.ok("ax_set_value", params{"app": app, "query": "Beta", "value": "true"}).Text, "already")
	w.done("ax_click", params{"app": app, "query": "Delta"})
	e := w.refused(aai.AutomationFailed, "ax_key_press", params{"app": app, "key": "space"})
	w.says(e.Message, "Delta")
	w.says(e.Hint, "ax_set_value")
	w.done("ax_set_value", params{"app": app, "query": "Delta", "value": "true"})
	ticked("Delta True")
	tree := w.ok("ax_get_tree", params{"app": app}).Text
	assert.Check(t, is.Equal(strings.Count(tree, " checked"), 2), "the outline does not tell of 2 ticked boxes:\n%s", tree)
	box := regexp.MustCompile(`\[(e\d+)\] "" checked`).FindStringSubmatch(tree)
	w.done("ax_click", params{"app": app, "query": box[1]})
	ticked("Beta False")
	p.undisturbed(t)
}
