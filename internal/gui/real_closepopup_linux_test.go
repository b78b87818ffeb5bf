package gui_test

import (
	"testing"

	"github.com/gybob/aai-gateway"
)

// openMenu is a window of GTK 4 with a menu.
const openMenu = `
import gi
gi.require_version("Gtk", "4.0")
from gi.repository import Gtk, Gio
def up(app):
    window = Gtk.ApplicationWindow(application=app, title="Menu", default_width=300, default_height=200)
    menu = Gio.Menu()
    for name in "Batch", "Cabin":
        menu.append(name, None)
    window.set_child(Gtk.MenuButton(label="More", menu_model=menu, valign=Gtk.Align.START))
    window.present()
app = Gtk.Application(application_id="org.example.openmenu")
app.connect("activate", up)
app.run(None)
`

// TestRealCloseUnderMenu: a window is not closed under its open menu.
func TestRealCloseUnderMenu(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	app := w.python("menu.py", openMenu, "More")
	w.done("ax_click", params{"app": app, "query": "More", "mode": "focus"})
	e := w.refused(aai.AutomationFailed, "ax_window", params{"app": app, "action": "close"})
	w.says(e.Message, "is open")
	w.says(e.Hint, "escape")
	w.ok("ax_key_press", params{"app": app, "key": "escape", "mode": "focus"})
	w.ok("ax_window", params{"app": app, "action": "close"})
}
