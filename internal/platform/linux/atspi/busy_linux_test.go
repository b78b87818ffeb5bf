package atspi_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// workingGTK is a window of a program that works for a while after a signal, and reports when it begins.
const workingGTK = `
import gi, signal, sys, time
gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk
window = Gtk.Window(title="At work")
window.add(Gtk.Button(label="Press"))
def work():
    open(sys.argv[1], "a").write(".")
    until = time.monotonic() + 0.6
    while time.monotonic() < until: pass
    return True
GLib.unix_signal_add(GLib.PRIORITY_HIGH, signal.SIGUSR1, work)
window.show_all()
Gtk.main()
`

// TestBusyApp checks that a busy program, which answers late, is not listed as hanging.
func TestBusyApp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	begun := filepath.Join(w.Home, "begun")
	app := w.app(t, w.Launch(t, "python3", "-c", workingGTK, begun))
	w.shows(t, app, desktop.Button, "Press")
	for n := range 3 {
		assert.NilError(t, syscall.Kill(app.PID, syscall.SIGUSR1))
		eventually(t, "it works", func() bool { marks, _ := os.ReadFile(begun); return len(marks) > n })
		apps, err := w.bus.Apps(t.Context())
		assert.NilError(t, err)
		for _, a := range apps {
			assert.Check(t, a.PID != app.PID || a.HiddenReason == "", "at look %d it is listed with %q", n, a.HiddenReason)
		}
	}
}
