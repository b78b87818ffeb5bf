package gui_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gybob/aai-gateway"
)

// Programs with a text that changes while the pointer is over a button.
const (
	hoverGTK = `
import gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
word = Gtk.Label(label="nothing")
box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
for name in ("More", "Ready"):
    b = Gtk.Button(label=name)
    b.connect("enter-notify-event", lambda b, e: word.set_label("over " + b.get_label()))
    box.add(b)
box.add(word)
window = Gtk.Window(title="Hover"); window.add(box); window.show_all()
Gtk.main()
`
	hoverQt = `
import sys
from PyQt6.QtWidgets import *
app = QApplication([])
word = QLabel("nothing")
class Button(QPushButton):
    def enterEvent(self, e): word.setText("over " + self.text())
window = QWidget(windowTitle="Hover")
box = QVBoxLayout(window)
for name in ("More", "Ready"): box.addWidget(Button(name))
box.addWidget(word)
window.show()
app.exec()
`
)

// TestRealHoverOutsidePages: a hover effect also appears in the background, and the next hover ends
// it.
func TestRealHoverOutsidePages(t *testing.T) {
	t.Parallel()
	for name, program := range map[string]string{"gtk3": hoverGTK, "qt6": hoverQt} {
		t.Run(name, func(t *testing.T) {
			w := newRealWorld(t) // not below a pointer that still hovers over another element
			p := w.somebody()
			app := w.python(name+"hover.py", program, "button Ready")
			p.back(t)
			for _, button := range []string{"More", "Ready", "More"} {
				a := w.done("ax_click", params{"app": app, "query": "button " + button, "click_type": "hover"})
				w.says(a.Text, "Moved the pointer to", "over "+button)
			}
			p.undisturbed(t)
		})
	}
}

const rowsGTK4 = `
import gi, os, sys
gi.require_version("Gtk", "4.0")
from gi.repository import Gtk
def up(app):
    rows = Gtk.ListBox(selection_mode=Gtk.SelectionMode.MULTIPLE)
    for n in range(8): rows.append(Gtk.Label(label="Row %d" % n))
    def tell(*_):
        with open(sys.argv[1] + ".new", "w") as f: f.write(" ".join(str(r.get_index()) for r in rows.get_selected_rows()))
        os.rename(sys.argv[1] + ".new", sys.argv[1])
    rows.connect("selected-rows-changed", tell)
    tell()
    window = Gtk.ApplicationWindow(application=app, title="Rows"); window.set_child(rows); window.present()
app = Gtk.Application(application_id="org.example.rows"); app.connect("activate", up); app.run(None)
`

// TestRealSelectMoreGTK4 is TestRealSelectMore in GTK 4.
func TestRealSelectMoreGTK4(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	file := filepath.Join(w.Home, "rows")
	app := w.python("rows4.py", rowsGTK4, `"Row 7"`, file)
	w.selectsMore(app, func(want string) bool { text, _ := os.ReadFile(file); return string(text) == want })
}

// selectsMore selects a row, one more, and those between it and a third.
func (w *realWorld) selectsMore(app string, selected func(string) bool) {
	w.Helper()
	for _, c := range []struct{ row, how, want string }{{"1", "only", "1"}, {"3", "add", "1 3"}, {"6", "range", "1 3 4 5 6"}} {
		p := params{"app": app, "query": `"Row ` + c.row + `"`}
		if c.how != "only" {
			p["select"] = c.how
		}
		w.done("ax_click", p)
		w.eventually("selected is "+c.want, func() bool { return selected(c.want) })
	}
}

// TestRealSelectMorePage is TestRealSelectMore in a page's list. For a list built by the page, with
// a single selection in its browser, the reply does not claim more.
func TestRealSelectMorePage(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<select aria-label="Rows" id="rows" multiple size="8" onchange="told.value = [...rows.selectedOptions].map(o => o.value).join(' ')"></select>
		<input type="hidden" id="told"><input type="hidden" id="towns"><ul role="listbox" aria-label="Towns" aria-multiselectable="true" tabindex="0"><li>Graz<li>Linz<li>Wels</ul><script>
		for (let n = 0; n < 8; n++) rows.add(new Option("Row " + n, n))
		const all = [...document.querySelectorAll("li")]
		for (const o of all) o.role = "option", o.ariaSelected = "false", o.onclick = e => {
			if (!e.ctrlKey) all.forEach(x => x.ariaSelected = "false")
			o.ariaSelected = "true"
			towns.value = all.filter(x => x.ariaSelected == "true").map(x => x.textContent).join(" ")
		}</script>`)
	w.selectsMore(f.app, func(want string) bool { return f.holds("told") == want })
	w.done("ax_click", f.on("option Graz"))
	f.comes("towns", "Graz")
	e := w.refused(aai.AutomationFailed, "ax_click", params{"app": f.app, "query": "option Wels", "select": "add"})
	w.says(e.Message, `option "Graz" is not selected: its list may allow one selection only`, "it has its former value again")
	f.comes("towns", "Graz")
}
