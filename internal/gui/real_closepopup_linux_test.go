package gui_test

import (
	"testing"

	"github.com/gybob/aai-gateway"
)

// TestRealCloseUnderMenu: a window is not closed under its open menu.
func TestRealCloseUnderMenu(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	app := w.python("openmenu.py", "More")
	w.done("ax_click", params{"app": app, "query": "More", "mode": "focus"})
	e := w.refused(aai.AutomationFailed, "ax_window", params{"app": app, "action": "close"})
	w.says(e.Message, "is open")
	w.says(e.Hint, "escape")
	w.ok("ax_key_press", params{"app": app, "key": "escape", "mode": "focus"})
	w.ok("ax_window", params{"app": app, "action": "close"})
}
