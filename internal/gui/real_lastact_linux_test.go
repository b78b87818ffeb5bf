package gui_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// lastAct and lastActQt are programs that exit during an action.
const (
	lastAct = `
import os, gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
entry = Gtk.Entry(); entry.get_accessible().set_name("Last word"); entry.connect("changed", lambda *_: os._exit(0))
window = Gtk.Window(title="Last"); window.add(entry); window.show_all()
Gtk.main()
`
	lastActQt = `
import os
from PyQt6.QtWidgets import *
app = QApplication([]); window = QWidget(windowTitle="Last"); entry = QLineEdit(); entry.textChanged.connect(lambda *_: os._exit(0))
QFormLayout(window).addRow("Last word", entry); window.show()
app.exec()
`
)

// TestRealLastAct: an action that ends a program before its reply counts as done, and the program's
// end is its effect, over the program's own socket or over the bus.
func TestRealLastAct(t *testing.T) {
	t.Parallel()
	for name, program := range map[string]string{"GTK 3": lastAct, "Qt": lastActQt} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newRealWorld(t)
			for tool, argument := range map[string]string{"ax_set_value": "value", "ax_type": "text"} {
				a := w.ok(tool, params{"app": w.python("last.py", program, "textbox Last word"), "query": "textbox Last word", argument: "farewell"})
				w.says(a.Text, "has ended")
				w.says(a.Warning, "cannot be read back")
				assert.Check(t, is.Equal(at(a.data, "delivered"), true), "%s %v", tool, a.data)
				assert.Check(t, is.Equal(at(a.data, "verified"), false), "%s %v", tool, a.data)
			}
		})
	}
}
