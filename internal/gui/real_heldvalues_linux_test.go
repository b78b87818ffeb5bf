package gui_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/undo"
)

// TestRealSameLength: Chromium reports no event when keys overwrite a text with one of the same
// length in a field with a button. A refresh makes it report, and the call succeeds.
func TestRealSameLength(t *testing.T) {
	f := pageOf(t, `<input type="search" aria-label="Search" id="search"><label>Town <input list="towns" id="town"></label>
		<datalist id="towns"><option>Bonn<option>Kiel</datalist><label>Street <input id="street"></label>`)
	log := undo.NewLog(undo.Config{})
	f.gateway.MutationObserver = log
	back := func() {
		t.Helper()
		taken, _, err := log.Revert(t.Context(), f.gateway.Do, f.caller, 1, func(*undo.Act) bool { return true })
		if err != nil || len(taken) != 1 || !taken[0].Outcome.IsUndone() {
			t.Error(taken, err)
		}
	}
	for field, id := range map[string]string{"textbox Search": "search", "combobox Town": "town", "textbox Street": "street"} {
		holds := func(want string) {
			t.Helper()
			f.comes(id, want)
			told := f.ok("ax_get_value", f.on(field)).data["value"]
			assert.Check(t, is.Equal(told, want), "%s is said to hold %q, want %q", field, told, want)
		}
		for _, town := range []string{"Bonn", "Kiel", "Jena", "Gera"} {
			f.done("ax_set_value", f.set(field, town))
			holds(town)
		}
		back()
		holds("Jena")
		for _, town := range []string{"Suhl", "Hamm"} {
			f.done("ax_type", params{"app": f.app, "query": field, "text": town, "clear_first": true})
			holds(town)
		}
		for _, town := range []string{"Werl", "Unna"} {
			f.ok("ax_fill", params{"app": f.app, "fields": []any{map[string]any{"query": field, "value": town}}})
			holds(town)
		}
		back()
		holds("Werl")
	}
}

// TestRealSuggested: a field with suggestions holds the text typed into it; an empty one does not
// have its name as value.
func TestRealSuggested(t *testing.T) {
	f := pageOf(t, `<p><input list="towns" aria-label="City" id="city"><label>Town <input list="towns" id="town"></label>
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

// keptPage has fields that rewrite their text, a date, a list of which only some items exist, and buttons out of view.
const keptPage = `
<label>Upper <input id=upper oninput="this.value = this.value.toUpperCase()"></label>
<label>Trim <input id=trim onchange="this.value = this.value.trim()"></label>
<label>Price <input id=price onchange="this.value = Number(this.value).toFixed(2)"></label>
<label>Day <input id=day type=date></label>
<table><tr><th>A</th><th>B</th><th>C</th></tr><tr><td>1</td><td></td><td>3</td></tr><tr><td>x</td><td></td><td></td></tr></table>
<div role=listbox aria-label=Rows><div role=option aria-posinset=1 aria-setsize=1000>Row 1</div><div role=option aria-posinset=2 aria-setsize=1000>Row 2</div></div>
<button>Same</button>
<div style="height: 3000px"></div>
<button>Same</button> <button>Same</button>
<script>for (let n = 0; n < 10; n++) document.body.append(Object.assign(document.createElement("button"), {textContent: "Far"}));</script>`

// TestRealKeptValues: a field that rewrites its text keeps it so, and the reply says the kept text. A date is accepted
// only if the page takes it.
func TestRealKeptValues(t *testing.T) {
	w := parallelWorld(t)
	f := w.webForm(keptPage)
	text := w.ok("ax_fill", params{"app": f.app, "fields": fields("Upper", "abc", "Trim", " q ", "Price", "2.2")}).Text
	w.says(text, "Filled 3 of 3", "The program changed the text in", `"ABC"`, `"q"`)
	f.comes("upper", "ABC")
	f.comes("trim", "q")

	for _, wrong := range []string{"02/31/2026", "2026-02-31", "31/12/2026", "soon"} {
		w.says(w.refused(aai.InvalidParams, "ax_type", params{"app": f.app, "query": "textbox Day", "text": wrong}).Message, "text: expected a")
	}
	w.done("ax_type", params{"app": f.app, "query": "textbox Day", "text": "12/25/2026"})
	f.comes("day", "2026-12-25")

	w.says(w.ok("ax_get_tree", params{"app": f.app}).Text, `row: "1", "", "3"`, "row: \"x\"\n")
	w.says(w.refused(aai.ElementNotFound, "ax_find", params{"app": f.app, "query": "Row 500"}).Hint, `998 in listbox "Rows"`)
	text = w.ok("ax_find", params{"app": f.app, "query": "Same"}).Text
	assert.Check(t, !strings.Contains(text, "out of view"), "not the one in view: %s", text)
	w.says(w.ok("ax_find", params{"app": f.app, "query": "Same", "nth": 3}).Text, "out of view")
	w.says(w.ok("ax_click", params{"app": f.app, "query": "Same", "nth": 3}).Text, "scrolled into it first")
	e := w.refused(aai.AmbiguousTarget, "ax_find", params{"app": f.app, "query": "Far"})
	w.says(e.Message, "10 elements match", "; 2 more are not listed")
	assert.Check(t, is.Len(e.Candidates, 8))
}

// TestRealPageFieldsAreRead: the value of a page field comes from its parts: a date, a time, and
// the content of a list that the page builds itself.
func TestRealPageFieldsAreRead(t *testing.T) {
	f := pageOf(t, `<p><label>Day <input type="date" id="day" value="2027-01-02"></label>
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

// TestRealDateTimesWithLimits: dates and times with a minimum and maximum, which narrow the bounds
// of their parts, are set like others. A value outside is an error with the bounds, and so is a
// field with ambiguous parts: then nothing is typed.
func TestRealDateTimesWithLimits(t *testing.T) {
	f := pageOf(t, `<p><label>Wide <input type="date" id="wide" min="2020-01-01" max="2030-12-31" value="2026-05-05"></label>
	<label>Same <input type="date" id="same" min="2026-03-01" max="2026-09-30" value="2026-05-05"></label>
	<label>Short <input type="date" id="short" min="2026-03-05" max="2026-03-20"></label>
	<label>Two <input type="date" id="two" min="2026-01-01" max="2027-12-31"></label></p>
	<p><label>Last <input type="date" id="last" max="2027-12-31"></label>
	<label>Noon <input type="time" id="noon" min="13:00" max="17:00"></label>
	<label>Day <input type="time" id="day" min="09:00" max="17:30"></label>
	<label>Hour <input type="time" id="hour" min="13:10" max="13:40"></label></p>
	<p><label>Moment <input type="datetime-local" id="moment" min="2026-03-01T08:00" max="2026-04-01T18:00"></label>
	<label>Month <input type="month" id="month" min="2026-03" max="2027-04"></label>
	<label>Week <input type="week" id="week" min="2026-W03" max="2026-W20"></label>
	<label>Either <input type="week" id="either" min="2026-W03" max="2026-W09" value="2026-W04"></label></p>`)
	for _, c := range []struct{ name, id, value string }{
		{"Wide", "wide", "2026-08-09"}, {"Wide", "wide", "2030-12-31"}, {"Same", "same", "2026-09-30"}, {"Short", "short", "2026-03-11"},
		{"Two", "two", "2027-04-04"}, {"Last", "last", "2026-03-04"}, {"Noon", "noon", "14:05"}, {"Day", "day", "12:30"}, {"Day", "day", "09:15"},
		{"Hour", "hour", "13:25"}, {"Moment", "moment", "2026-04-01T08:30"}, {"Month", "month", "2026-12"}, {"Week", "week", "2026-W11"},
	} {
		f.done("ax_set_value", f.set("textbox "+c.name, c.value))
		f.comes(c.id, c.value)
		f.says(f.ok("ax_set_value", f.set("textbox "+c.name, c.value)).Text, "has this value already")
		got := f.ok("ax_get_value", f.on("textbox "+c.name)).data["value"]
		assert.Check(t, is.Equal(got, c.value), "%s %s is read as %v", c.name, c.value, got)
	}
	f.says(f.refused(aai.InvalidParams, "ax_set_value", f.set("textbox Two", "2029-01-01")).Message, "expected a year from 2026 to 2027")
	f.says(f.refused(aai.AutomationNotSupported, "ax_set_value", f.set("textbox Either", "2026-W05")).Message, "do not identify them")
	assert.Check(t, is.Equal(f.holds("two"), "2027-04-04"))
	assert.Check(t, is.Equal(f.holds("either"), "2026-W04"))
}

// TestRealLastLineEnd: a page's text with a final line end is set, filled in and read unchanged.
func TestRealLastLineEnd(t *testing.T) {
	f := pageOf(t, `<label>Plain <textarea id="plain"></textarea></label>`)
	for _, text := range []string{"a\nb\n", "x\n", "q\n\n", "\n", "a\n\nb", "z"} {
		f.done("ax_set_value", f.set("textbox Plain", text))
		f.comes("plain", text)
		got := f.ok("ax_get_value", f.on("textbox Plain")).data["value"]
		assert.Check(t, is.Equal(got, text), "%q is read as %q", text, got)
	}
	f.says(f.ok("ax_fill", params{"app": f.app, "fields": fields("textbox Plain", "one\ntwo\n")}).Text, "Filled 1 of 1")
	f.comes("plain", "one\ntwo\n")
}
