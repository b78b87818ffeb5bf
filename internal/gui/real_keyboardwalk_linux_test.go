package gui_test

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// walkedWindows returns, by toolkit, a function that returns a program or page with four fields and a button. The fault trap
// keeps the focus in the second field; order exchanges the third and the second, and leaves the fourth out.
func walkedWindows() map[string]func(fault string) string {
	return map[string]func(string) string{
		"GTK 3": func(fault string) string {
			return fmt.Sprintf(`
import gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk, Gdk
fault = %q
box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=30, margin=20)
parts = []
for name in ["First", "Second", "Third", "Fourth"]:
    entry = Gtk.Entry(); entry.get_accessible().set_name(name); box.add(entry); parts.append(entry)
ready = Gtk.Button(label="Ready"); box.add(ready); parts.append(ready)
if fault == "trap": parts[1].connect("key-press-event", lambda _, e: e.keyval in (Gdk.KEY_Tab, Gdk.KEY_ISO_Left_Tab))
if fault == "order": box.set_focus_chain([parts[0], parts[2], parts[1], parts[4]])
window = Gtk.Window(title="Walked"); window.add(box); window.show_all()
Gtk.main()
`, fault)
		},
		"Qt 6": func(fault string) string {
			return fmt.Sprintf(`
from PyQt6.QtCore import Qt, QEvent
from PyQt6.QtWidgets import *
fault = %q
class Trap(QLineEdit):
    def event(self, e): return True if e.type() == QEvent.Type.KeyPress and e.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab) else super().event(e)
app = QApplication([]); window = QWidget(); window.setWindowTitle("Walked"); box = QVBoxLayout(window); box.setSpacing(30)
parts = []
for name in ["First", "Second", "Third", "Fourth"]:
    edit = Trap() if fault == "trap" and name == "Second" else QLineEdit()
    edit.setAccessibleName(name); box.addWidget(edit); parts.append(edit)
ready = QPushButton("Ready"); box.addWidget(ready); parts.append(ready)
if fault == "order": QWidget.setTabOrder(parts[0], parts[2]); QWidget.setTabOrder(parts[2], parts[1]); QWidget.setTabOrder(parts[1], parts[4]); parts[3].setFocusPolicy(Qt.FocusPolicy.ClickFocus)
window.show(); app.exec()
`, fault)
		},
		"page": func(fault string) string {
			order, more := [5]string{}, ""
			switch fault {
			case "trap":
				more = `<script>document.querySelectorAll("input")[1].onkeydown = e => { if (e.key == "Tab") e.preventDefault() }</script>`
			case "order":
				order = [5]string{"tabindex=1", "tabindex=3", "tabindex=2", "tabindex=-1", "tabindex=4"}
			}
			return fmt.Sprintf(`<html lang=en><title>Walked</title><main><h1>Walked</h1><style>p{margin:30px}</style>
				<p><label>First <input %s></label><p><label>Second <input %s></label><p><label>Third <input %s></label><p><label>Fourth <input %s></label><p><button %s style="padding:8px">Ready</button></main>%s`, order[0], order[1], order[2], order[3], order[4], more)
		},
	}
}

// TestRealKeyboardWalk: a walk by tab finds a trap, a wrong order and an element without way to it, and nothing in the
// window without faults; then the element with the focus has it again.
func TestRealKeyboardWalk(t *testing.T) {
	t.Parallel()
	for name, program := range walkedWindows() {
		for _, c := range []struct{ fault, want string }{
			{"", ""}, {"trap", "keyboard-trap Second"}, {"order", "keyboard-reach Fourth; focus-order Second"},
		} {
			t.Run(name+" "+c.fault, func(t *testing.T) {
				t.Parallel()
				w := newRealWorld(t)
				var app string
				if name == "page" {
					app = w.page(program(c.fault), "Ready")
				} else {
					app = w.python("walked.py", program(c.fault), "Ready")
				}
				before := focusedNow(w, app)
				a := w.ok("ax_a11y_keyboard", params{"app": app})
				var found []string
				for _, i := range at(a.data, "issues").([]any) { //nolint:forcetypeassert // the schema says so
					issue, _ := i.(map[string]any)
					_, element, _ := strings.Cut(fmt.Sprint(issue["element"]), `"`)
					found = append(found, fmt.Sprint(issue["rule"], " ", strings.TrimSuffix(element, `"`)))
				}
				if got := strings.Join(found, "; "); got != c.want {
					t.Errorf("found %q, want %q\n%s\n%s", got, c.want, a.Text, a.Warning)
				}
				if c.fault == "trap" {
					return // nothing but a click leaves it
				}
				now := focusedNow(w, app)
				assert.Check(t, is.Equal(now, before), "the focus is at %s, and was at %s", now, before)
			})
		}
	}
}

// focusedNow returns the element with the focus of the program's window, as ax_get_state describes it.
func focusedNow(w *realWorld, app string) string {
	w.Helper()
	return fmt.Sprint(at(w.ok("ax_get_state", params{"app": app}).data, "focused_element"))
}
