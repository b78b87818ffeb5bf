package gui_test

import (
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestRealPageFields sets fields of every kind of a web page in the background: by keys if
// accessibility cannot. The page reports the values.
func TestRealPageFields(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<p><label>Colour <select id="colour"><option>Red<option selected>Green<option>Blue</select></label>
		<label>City <select id="city"><option>None<optgroup label="North"><option>Oslo<option>Bergen</optgroup><optgroup label="South"><option>Rome</optgroup></select></label>
		<label>Town <select id="town"><option>None<option value="one">Springfield<option value="another">Springfield</select></label>
		<label>Number <input type="number" id="number" min="-10" max="10"></label>
		<label>Amount <input type="number" id="amount" value="5" step="any"></label>
		<label>Day <input type="date" id="day"></label><label>Time <input type="time" id="time"></label>
		<label>When <input type="datetime-local" id="when"></label><label>Month <input type="month" id="month"></label>
		<label>Week <input type="week" id="week"></label><label>Volume <input type="range" id="volume" value="30"></label>
		<div role="slider" tabindex="0" aria-label="Dial" aria-valuemin="0" aria-valuemax="50" aria-valuenow="10"
			onkeydown="this.ariaValueNow = dial.value = +this.ariaValueNow + ({ArrowUp: 5, ArrowDown: -5}[event.key] || 0)">dial</div>
		<input type="hidden" id="dial" value="10">`)
	p := w.somebody()
	for _, c := range []struct{ query, id, value, holds string }{
		{"combobox Colour", "colour", "Blue", "Blue"},
		{"combobox City", "city", "Bergen", "Bergen"},
		{"spinbutton Number", "number", "-5", "-5"},
		{"spinbutton Amount", "amount", "-2.5", "-2.5"},
		{"textbox Day", "day", "2026-03-04", "2026-03-04"},
		{"textbox Time", "time", "13:45", "13:45"},
		{"textbox When", "when", "2026-12-24T00:05", "2026-12-24T00:05"},
		{"textbox Month", "month", "2027-11", "2027-11"},
		{"textbox Week", "week", "2026-W09", "2026-W09"},
		{"slider Volume", "volume", "70", "70"},
		{"slider Dial", "dial", "40", "40"},
	} {
		f.done("ax_set_value", f.set(c.query, c.value))
		f.comes(c.id, c.holds)
		f.comes("focused", "false") // the page also gets the blur event
		heard := f.holds("heard")
		a := f.ok("ax_set_value", f.set(c.query, c.value))
		f.says(a.Text, "has this value already")
		assert.Check(t, is.Equal(at(a.data, "delivered"), false), "%s %v", c.query, a.data)
		assert.Check(t, is.Equal(at(a.data, "verified"), true), "%s %v", c.query, a.data)
		now := f.holds("heard")
		assert.Check(t, is.Equal(now, heard), c.query)
		assert.Check(t, is.Equal(f.holds(c.id), c.holds), c.query)
	}
	e := f.refused(aai.AmbiguousTarget, "ax_set_value", f.set("combobox Town", "Springfield"))
	f.says(e.Hint, `mode "focus"`)
	assert.Assert(t, is.Len(e.Candidates, 2))
	assert.Equal(t, f.holds("town"), "None")
	assert.Equal(t, e.Delivery, aai.NotDelivered)
	p.undisturbed(t)
	e = f.refused(aai.InvalidParams, "ax_set_value", f.set("textbox Day", "tomorrow"))
	f.says(e.Message, "date or time with month, day, year")
	f.says(e.Hint, "2026-03-04")
	for _, wrong := range []string{"25:99", "noon", "2026-03-04"} {
		e = f.refused(aai.InvalidParams, "ax_set_value", f.set("textbox Time", wrong))
		f.says(e.Message, "date or time with hour, minute for")
	}
}

// TestRealReadOnly: a read-only field is reported as such, and not as disabled; an empty number
// field is empty, and not 0.
func TestRealReadOnly(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<p><label>Fixed <input id="fixed" readonly value="x"></label><label>Off <input id="off" disabled value="x"></label>
		<label>Sum <input type="number" id="sum" readonly value="3"></label><label>Count <input type="number" id="count"></label>
		<label>Day <input type="date" id="day"></label>`)
	tree := f.ok("ax_get_tree", params{"app": f.app}).Text
	f.says(tree, `textbox "Fixed"`)
	for _, c := range []struct {
		query            string
		enabled, readers bool
	}{{"textbox Fixed", true, true}, {"textbox Off", false, false}, {"spinbutton Sum", true, true}, {"spinbutton Count", true, false}, {"textbox Day", true, false}} {
		states, _ := f.ok("ax_get_attributes", f.on(c.query)).data["states"].([]any)
		assert.Check(t, is.Equal(has(states, "enabled"), c.enabled), "%s %v", c.query, states)
		assert.Check(t, is.Equal(has(states, "readonly"), c.readers), "%s %v", c.query, states)
	}
	for _, query := range []string{"textbox Fixed", "spinbutton Sum"} {
		e := f.refused(aai.AutomationFailed, "ax_set_value", f.set(query, "4"))
		f.says(e.Message, "is read-only")
		assert.Check(t, is.Equal(e.Delivery, aai.NotDelivered), query)
	}
	f.says(f.refused(aai.AutomationFailed, "ax_type", params{"app": f.app, "query": "textbox Fixed", "text": "4"}).Message, "is read-only")
	got := f.ok("ax_get_value", f.on("spinbutton Count")).data["value"]
	assert.Check(t, is.Equal(got, ""), "an empty field for a number holds %q", got)
}

func has(list []any, want any) bool {
	for _, one := range list {
		if reflect.DeepEqual(one, want) {
			return true
		}
	}
	return false
}

// TestRealSpins: negative numbers arrive and are verified, in each toolkit.
func TestRealSpins(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	for _, kind := range []linuxtest.Kind{linuxtest.GTK3, linuxtest.GTK4, linuxtest.Qt6} {
		t.Run(string(kind), func(t *testing.T) {
			w := w.on(t)
			file := filepath.Join(w.Home, string(kind)+".json")
			app := w.pythonOf(kind, "spins", "spinbutton Depth", file)
			for _, s := range []struct{ query, key, value string }{{"spinbutton Depth", "spin", "-5"}, {"slider Gain", "scale", "-7"}, {"spinbutton Depth", "spin", "0"}} {
				w.done("ax_set_value", params{"app": app, "query": s.query, "value": s.value})
				w.eventually(s.query+" is "+s.value, func() bool { return numberIn(file, s.key) == s.value })
				w.says(w.ok("ax_set_value", params{"app": app, "query": s.query, "value": s.value}).Text, "has this value already")
			}
		})
	}
}

// TestRealCells: cells of a spreadsheet accept words, numbers and formulas.
func TestRealCells(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	_, pid := w.spreadsheet()
	app := strconv.Itoa(pid)
	w.awaitElement(app, "cell A1")
	for _, c := range []struct{ cell, value, shows string }{{"B2", "Grüße", "Grüße"}, {"B3", "-5", "-5"}, {"B4", "=2*B3", "-10"}, {"B2", "other", "other"}} {
		w.done("ax_set_value", params{"app": app, "query": "cell " + c.cell, "value": c.value})
		assert.Check(t, is.Equal(w.ok("ax_get_value", params{"app": app, "query": "cell " + c.cell}).data["value"], c.shows), c.cell)
	}
	w.says(w.ok("ax_set_value", params{"app": app, "query": "cell B3", "value": "-5"}).Text, "has this value already")

	// Rows of cells are set together, each unchanged: the sheet would complete "Be" to "Berlin".
	a := w.done("ax_set_value", params{"app": app, "query": "cell D1", "value": "City\tNights\nBerlin\t2\nBe\t=2*E2\n"})
	w.says(a.Text, "Set the cells to E3 from")
	a = w.ok("ax_fill", params{"app": app, "fields": fields("cell D2", "Graz\t5\nBern\t7", "cell A6", "Sum")})
	assert.Assert(t, strings.HasPrefix(a.Text, "Filled 2 of 2 fields."), "it says %q", a.Text)
	assert.Assert(t, !strings.Contains(a.Text, `cell "`), "it says %q", a.Text)
	was := at(a.data, "fields", 0, "was")
	assert.Check(t, is.Equal(was, "Berlin\t2\nBe\t4\n"), "the cells held %q", was)
	for cell, want := range map[string]string{"D1": "City", "E1": "Nights", "D2": "Graz", "E2": "5", "D3": "Bern", "E3": "7", "A6": "Sum"} {
		assert.Check(t, is.Equal(w.ok("ax_get_value", params{"app": app, "query": "cell " + cell}).data["value"], want), cell)
	}

	// A click moves the cursor there, so that the next text goes there; text typed into a named
	// cell is read at the cell's current place.
	w.done("ax_click", params{"app": app, "query": "cell C5"})
	w.ok("ax_type", params{"app": app, "text": "here\n"})
	w.done("ax_type", params{"app": app, "query": "cell C6", "text": "7\n"})
	for cell, want := range map[string]string{"C5": "here", "C6": "7"} {
		assert.Check(t, is.Equal(w.ok("ax_get_value", params{"app": app, "query": "cell " + cell}).data["value"], want), cell)
	}
}
