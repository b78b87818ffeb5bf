package gui_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestRealShownPasswordInFirefox: Firefox replaces the element of a password field that its page shows in the clear, and the
// new one counts as a password field, too.
func TestRealShownPasswordInFirefox(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.firefoxForm(`<label>Key <input id=key type=password value=Quasimodo></label><button onclick="key.type = 'text'">Show</button>`, "button Show")
	w.ok("ax_get_tree", params{"app": f.app})
	w.ok("ax_click", params{"app": f.app, "query": "button Show"})
	said := w.ok("ax_get_tree", params{"app": f.app}).Text
	assert.Check(t, !strings.Contains(said, "Quasi"), "the tree says %s", said)
	said = w.ok("ax_screenshot", params{"app": f.app, "text": true}).Text
	assert.Check(t, !strings.Contains(said, "Quasi"), "the picture says %s", said)
}
