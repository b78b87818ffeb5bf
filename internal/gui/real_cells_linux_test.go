package gui_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestRealFarCells: cells of a sheet are found by name, filled and read in the background, also
// beyond the first hundred, which alone are read, and out of view. The same holds for several
// blocks.
func TestRealFarCells(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	app := w.process(w.Calc(t))
	w.awaitElement(app, "Bold")
	p := w.somebody()
	holds := func(cell, want string) {
		t.Helper()
		a := w.ok("ax_get_value", params{"app": app, "query": "cell " + cell})
		if w.says(a.Text, `cell "`+cell+`"`); a.data["value"] != want {
			t.Errorf("%s holds %q; want %q", cell, a.data["value"], want)
		}
	}
	for _, cell := range []string{"A1", "A8", "A20", "A500", "AB200000"} {
		w.done("ax_set_value", params{"app": app, "query": "cell " + cell, "value": "x" + cell})
		holds(cell, "x"+cell)
	}
	for _, c := range []struct{ query, value string }{{"cell A2", "a\tb\n1\t2"}, {"cell A40", "c\t=40+1\n3\t4\n5\t6\n7\t8\n9\t=40+2"}} {
		w.done("ax_set_value", params{"app": app, "query": c.query, "value": c.value})
	}
	a := w.ok("ax_fill", params{"app": app, "fields": []any{map[string]any{"query": "cell A4", "value": "e\tf\ng\th"}, map[string]any{"query": "cell C40", "value": "z"}}})
	w.says(a.Text, "Filled 2 of 2")
	a = w.ok("ax_fill", params{"app": app, "fields": fields("A600", "m", "cell C41", "n", "cell AC601", "o", "D42", "p")})
	w.says(a.Text, "Filled 4 of 4")
	for cell, want := range map[string]string{"A1": "xA1", "B3": "2", "A5": "g", "B5": "h", "A8": "xA8", "B40": "41", "B44": "42", "C40": "z", "A500": "xA500", "A600": "m", "C41": "n", "AC601": "o", "D42": "p"} {
		holds(cell, want)
	}
	w.done("ax_set_value", params{"app": app, "query": "cell E46", "value": "p\t\tq\n\t\tr\ts"}) // in the columns that it names, after any other input
	w.done("ax_set_value", params{"app": app, "query": "cell A8", "value": ""})
	for cell, want := range map[string]string{"E46": "p", "G46": "q", "E47": "", "G47": "r", "H47": "s", "A8": ""} {
		holds(cell, want)
	}
	w.done("ax_set_value", params{"app": app, "query": "cell A46", "value": "42"})
	for cell, formula := range map[string]string{"A46": "=40+2", "A47": "=1/0"} { // the result is the same, or an error
		_, err := w.do(w.Context(), "ax_set_value", params{"app": app, "query": "cell " + cell, "value": formula})
		assert.Check(t, err == nil, "%s is not set to %s: %v", cell, formula, err)
	}
	holds("A47", "=1/0") // LibreOffice does not report the text of this error
	w.says(w.ok("ax_get_tree", params{"app": app, "root": w.ref(app, "cell A47"), "budget_tokens": 2000}).Text, "=1/0")
	w.done("ax_scroll", params{"app": app, "query": "cell A1000", "to_view": true})
	w.says(w.ok("ax_find", params{"app": app, "query": "cell A1000"}).Text, `cell "A1000"`)
	w.says(w.refused("ELEMENT_NOT_FOUND", "ax_find", params{"app": app, "query": "cell XFE1"}).Message, "nothing in")
	w.ok("ax_key_press", params{"app": app, "query": "cell AD700", "key": "Down", "modifiers": []any{"ctrl"}})
	w.awaitElement(app, "AD1048570") // an index there exceeds its type
	w.ok("ax_key_press", params{"app": app, "query": "cell A49", "key": "7"})
	a = w.ok("ax_get_value", params{"app": app, "query": "group \"Cell A49\""})
	assert.Check(t, is.Equal(a.data["value"], "7"), "while it is written in A49 holds %v; want 7", a.data["value"])
	holds("A5", "g")
	w.says(w.ok("ax_type", params{"app": app, "query": "cell A50", "text": "8"}).Text, "The cell is being edited: return ends that.")
	p.undisturbed(t)
}
