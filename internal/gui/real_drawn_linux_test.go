package gui_test

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestRealTypeIntoDrawing: text goes by keys into a widget that reports no text, and stops when the widget gives the
// keyboard away.
func TestRealTypeIntoDrawing(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	file := filepath.Join(w.Home, "keys")
	app := w.python("drawn.py", `"Sheet"`, file)
	typed := func(want string) {
		w.Helper()
		w.eventually("the widget has "+want, func() bool { text, _ := os.ReadFile(file); return string(text) == want })
	}
	w.done("ax_type", params{"app": app, "query": "Sheet", "text": "ab 1"})
	typed("ab 1;")
	w.says(w.refused(aai.InvalidParams, "ax_type", params{"app": app, "query": "Sheet", "text": "x", "clear_first": true}).Message, "reports no text")
	e := w.refused(aai.AutomationFailed, "ax_type", params{"app": app, "query": "Sheet", "text": "c!password"})
	w.says(e.Message, "after 2 of 10 characters")
	typed("ab 1c!;")
	text, _ := os.ReadFile(file + ".field")
	assert.Check(t, is.Len(text, 0))
	e = w.refused(aai.AutomationFailed, "ax_type", params{"app": app, "query": "Sheet", "text": "a?dd d"})
	w.says(e.Message, "after 2 of 6 characters")
	w.done("ax_click", params{"app": app, "query": "Cancel"})
	w.eventually("the dialog was cancelled", func() bool { text, _ := os.ReadFile(file + ".answer"); return string(text) == "0" })
}
