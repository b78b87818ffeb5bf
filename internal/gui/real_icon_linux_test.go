package gui_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gybob/aai-gateway"
)

// TestRealIconOfAnEntry: pressing the icon in a GTK 3 field by accessibility would end some
// programs, so it fails. The error says so and names the alternative, which works.
func TestRealIconOfAnEntry(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	file := filepath.Join(t.TempDir(), "pressed")
	app := w.process(w.script("iconentry.py", file))
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
