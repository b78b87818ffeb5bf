package gui_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestRealEntryLine: return without a target warns that the text set before is gone.
func TestRealEntryLine(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	app := w.python("entryline.py", "A1")
	w.done("ax_set_value", params{"app": app, "query": "role:textbox", "value": "=6*7"})
	a := w.ok("ax_key_press", params{"app": app, "key": "return"})
	w.says(a.Warning, "whose text is gone", "ax_type with submit")
	assert.Check(t, is.Equal(at(a.data, "verified"), false), "it counts as seen to be done: %v", a.data)
}
