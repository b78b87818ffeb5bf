//go:build linux

package atspi_test

import (
	"strings"
	"testing"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// TestDialogInALoopOfItsOwn checks that GTK 3 can be read and operated while it runs a dialog in a nested
// loop, in which it ignores the connection that opened the dialog.
func TestDialogInALoopOfItsOwn(t *testing.T) {
	w := newWorld(t)
	app := w.app(t, w.Launch(t, "mousepad"))
	var item desktop.Element
	eventually(t, "the menu is there", func() bool {
		for _, e := range w.snapshot(t, app).Elements {
			if e.Role.IsMenuItem() && strings.HasPrefix(e.Name, "Save As") {
				item = e
			}
		}
		return item.ID != ""
	})
	w.perform(t, app, item, desktop.Act{Verb: desktop.Press, AllowClosedMenu: true})
	button := w.shows(t, app, desktop.Button, "Cancel")
	w.perform(t, app, button, desktop.Act{Verb: desktop.Press})
	eventually(t, "the dialog is gone", func() bool {
		for _, e := range w.snapshot(t, app).Elements {
			if e.Name == "Cancel" && e.States.Has(desktop.Showing) {
				return false
			}
		}
		return true
	})
}
