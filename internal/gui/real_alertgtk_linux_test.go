package gui_test

import "testing"

// TestRealAlertGTK4: the buttons of GTK 4's dialogs, which report their name twice, are pressed by
// name.
func TestRealAlertGTK4(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	app := w.python("alert.py", "button Ask")
	for button, answer := range map[string]string{"Discard": "answer 2", "role:button title:Cancel": "answer 1", "Save": "answer 3"} {
		w.ok("ax_click", params{"app": app, "query": "Ask"})
		w.awaitElement(app, "button Discard")
		w.ok("ax_click", params{"app": app, "query": button})
		w.awaitElement(app, answer)
	}
}
