package gui_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestRealPageFieldsAreRead: the value of a page field comes from its parts: a date, a time, and
// the content of a list that the page builds itself.
func TestRealPageFieldsAreRead(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<p><label>Day <input type="date" id="day" value="2027-01-02"></label>
		<label>Half <input type="date" id="half"></label>
		<label>Time <input type="time" id="time" value="13:45"></label><label>Noon <input type="time" id="noon" value="00:30:07"></label>
		<label>When <input type="datetime-local" id="when" value="2026-12-24T00:05"></label>
		<label>Month <input type="month" id="month" value="2027-11"></label><label>Week <input type="week" id="week" value="2026-W09"></label>
		<div role="combobox" tabindex="0" aria-label="Colour" aria-expanded="false">Red</div>
		<div role="combobox" tabindex="0" aria-label="Size" aria-expanded="true"><span>Large</span><div role="listbox"><div role="option">Small</div><div role="option" aria-selected="true">Large</div></div></div>
		<select aria-label="Kind" id="kind"><option>One<option selected>Two</select>`)
	for _, c := range []struct{ query, holds string }{
		{"textbox Day", "2027-01-02"},
		{"textbox Half", ""},
		{"textbox Time", "13:45"},
		{"textbox Noon", "00:30:07"},
		{"textbox When", "2026-12-24T00:05"},
		{"textbox Month", "2027-11"},
		{"textbox Week", "2026-W09"},
		{"combobox Colour", "Red"},
		{"combobox Size", "Large"},
		{"combobox Kind", "Two"},
	} {
		for _, tool := range []string{"ax_get_value", "ax_get_attributes"} {
			assert.Check(t, is.Equal(f.ok(tool, f.on(c.query)).data["value"], c.holds), "%s %s", tool, c.query)
		}
		for _, property := range []string{"value", "contains_text"} {
			a := f.ok("ax_assert", params{"app": f.app, "query": c.query, "assertions": map[string]any{property: c.holds}})
			assert.Check(t, is.Equal(at(a.data, "passed"), true), "%s %s", c.query, a.Text)
		}
	}
	// Text typed after the first read is read, too.
	f.done("ax_set_value", f.set("textbox Day", "2028-02-29"))
	f.comes("day", "2028-02-29")
	got := f.ok("ax_get_value", f.on("textbox Day")).data["value"]
	assert.Check(t, is.Equal(got, "2028-02-29"), "it holds %q", got)
	f.says(f.ok("ax_find", f.on("textbox Time")).Text, `value "13:45"`)
	f.ok("ax_wait", params{"app": f.app, "query": "textbox Month", "until": "value", "value": "2027-11"})
}
