package gui_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestRealSuggested: a field with suggestions holds the text typed into it; an empty one does not
// have its name as value.
func TestRealSuggested(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<p><input list="towns" aria-label="City" id="city"><label>Town <input list="towns" id="town"></label>
		<label>Place <input role="combobox" id="place"></label><input list="towns" placeholder="Where" id="where">
		<datalist id="towns"><option>Bonn<option>Ulm</datalist>`)
	for name, id := range map[string]string{"City": "city", "Town": "town", "Place": "place", "Where": "where"} {
		field := "combobox " + name
		holds := func(want string) {
			t.Helper()
			told := f.ok("ax_get_value", f.on(field)).data["value"]
			assert.Check(t, is.Equal(told, want), "%s is said to hold %q, want %q", name, told, want)
			f.comes(id, want)
		}
		holds("")
		f.done("ax_set_value", f.set(field, "Bonn"))
		holds("Bonn")
		f.done("ax_set_value", f.set(field, ""))
		holds("")
		f.done("ax_set_value", f.set(field, name)) // it was not set already
		holds(name)
		f.done("ax_set_value", f.set(field, ""))
		holds("")
	}
}
