package gui_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gybob/aai-gateway"
)

// iconEntry is an entry with a pressable icon, like Thunar's.
const iconEntry = `
import gi, sys
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
entry = Gtk.Entry(text="/tmp")
entry.set_icon_from_icon_name(Gtk.EntryIconPosition.SECONDARY, "edit-clear")
entry.connect("icon-press", lambda *_: open(sys.argv[1], "a").write("pressed\n"))
window = Gtk.Window(title="Place", default_width=300, default_height=60)
window.add(entry)
window.show_all()
Gtk.main()
`

// TestRealIconOfAnEntry: pressing the icon in a GTK 3 field by accessibility would end some
// programs, so it fails. The error says so and names the alternative, which works.
func TestRealIconOfAnEntry(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	file := filepath.Join(t.TempDir(), "pressed")
	app := w.process(w.Launch(t, "python3", "-c", iconEntry, file))
	const icon = "role:image and name:edit-clear"
	e := w.refused(aai.AutomationNotSupported, "ax_click", params{"app": app, "query": icon})
	w.says(e.Message, "cannot be pressed by asking: the program may end of it")
	w.says(e.Hint, `mode "focus"`)
	if _, err := os.Stat(file); err == nil || !e.RetrySafe() {
		t.Errorf("it was pressed all the same; delivery %q", e.Delivery)
	}
	w.ok("ax_click", params{"app": app, "query": icon, "mode": "focus"})
	w.eventually("it is pressed by the pointer", func() bool { _, err := os.Stat(file); return err == nil })
}
