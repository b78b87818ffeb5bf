package gui_test

import (
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestRealOffice: LibreOffice's fields have the names of their labels, and its menu bar, which it
// reports twice, appears once.
func TestRealOffice(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	_, pid := w.spreadsheet()
	app := strconv.Itoa(pid)
	w.awaitElement(app, "cell A1")
	p := w.somebody()
	shown := w.shown(app)
	assert.Check(t, is.Equal(strings.Count(shown, "menubar"), 1), shown)
	assert.Check(t, is.Equal(strings.Count(shown, "File"), 1), shown)
	w.ok("ax_click", params{"app": app, "query": `button "Find and Replace"`})
	w.awaitElement(app, "textbox Find:")
	for _, c := range []struct{ query, value string }{{"textbox Find:", "abc"}, {`textbox "Replace:"`, "abcd"}, {"textbox Find", "Grüße"}} {
		w.done("ax_set_value", params{"app": app, "query": c.query, "value": c.value})
		assert.Check(t, is.Equal(w.ok("ax_get_value", params{"app": app, "query": c.query}).data["value"], c.value), c.query)
	}
	shown = w.shown(app)
	assert.Assert(t, !strings.Contains(shown, `label "Find:"`), "the words of a field are told twice, or others not at all:\n%s", shown)
	assert.Assert(t, is.Contains(shown, `label "Direction:"`))
	p.undisturbed(t)
}
