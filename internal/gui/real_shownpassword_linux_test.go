package gui_test

import (
	"strings"
	"testing"
)

// TestRealShownPasswordInFirefox: Firefox replaces the element of a password field that its page shows in the clear, and the
// new one counts as a password field, too.
func TestRealShownPasswordInFirefox(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.firefoxForm(`<label>Key <input id=key type=password value=Quasimodo></label><button onclick="key.type = 'text'">Show</button>`, "button Show")
	w.ok("ax_get_tree", params{"app": f.app})
	w.ok("ax_click", params{"app": f.app, "query": "button Show"})
	if said := w.ok("ax_get_tree", params{"app": f.app}).Text; strings.Contains(said, "Quasi") {
		t.Errorf("the tree says %s", said)
	}
	if said := w.ok("ax_screenshot", params{"app": f.app, "text": true}).Text; strings.Contains(said, "Quasi") {
		t.Errorf("the picture says %s", said)
	}
}
