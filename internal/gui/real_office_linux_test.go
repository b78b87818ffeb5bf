package gui_test

import (
	"strconv"
	"strings"
	"testing"
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
	if shown := w.shown(app); strings.Count(shown, "menubar") != 1 || strings.Count(shown, "File") != 1 {
		t.Errorf("its menu bar is told %d times:\n%s", strings.Count(shown, "menubar"), shown)
	}
	w.ok("ax_click", params{"app": app, "query": `button "Find and Replace"`})
	w.awaitElement(app, "textbox Find:")
	for _, c := range []struct{ query, value string }{{"textbox Find:", "abc"}, {`textbox "Replace:"`, "abcd"}, {"textbox Find", "Grüße"}} {
		w.done("ax_set_value", params{"app": app, "query": c.query, "value": c.value})
		if got := w.ok("ax_get_value", params{"app": app, "query": c.query}).data["value"]; got != c.value {
			t.Errorf("%s holds %q, want %q", c.query, got, c.value)
		}
	}
	if shown := w.shown(app); strings.Contains(shown, `label "Find:"`) || !strings.Contains(shown, `label "Direction:"`) {
		t.Errorf("the words of a field are told twice, or others not at all:\n%s", shown)
	}
	p.undisturbed(t)
}
