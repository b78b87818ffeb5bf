package gui_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestRealLastAct: an action that ends a program before its reply counts as done, and the program's
// end is its effect, over the program's own socket or over the bus.
func TestRealLastAct(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"gtk3", "qt6"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newRealWorld(t)
			for tool, argument := range map[string]string{"ax_set_value": "value", "ax_type": "text"} {
				a := w.ok(tool, params{"app": w.python("last_"+name+".py", "textbox Last word"), "query": "textbox Last word", argument: "farewell"})
				w.says(a.Text, "has ended")
				w.says(a.Warning, "cannot be read back")
				assert.Check(t, is.Equal(at(a.data, "delivered"), true), "%s %v", tool, a.data)
				assert.Check(t, is.Equal(at(a.data, "verified"), false), "%s %v", tool, a.data)
			}
		})
	}
}
