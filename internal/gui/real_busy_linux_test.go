package gui_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestRealAtWork: a call waits longer than usual for an element, or for its enabled state, while
// the program works; an absent one is reported when the program rests.
func TestRealAtWork(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]struct{ query, seconds string }{"there": {"Done", "1.5"}, "enabled": {"Enter", "3"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newRealWorld(t)
			app := w.python("works.py", "button Start", next.seconds)
			w.ok("ax_click", params{"app": app, "query": "button Start"})
			w.ok("ax_click", params{"app": app, "query": "button " + next.query})
			e := w.refused(aai.ElementNotFound, "ax_click", params{"app": app, "query": "button Never"})
			assert.Check(t, is.Equal(e.Delivery, aai.NotDelivered))
		})
	}
}
