package gui_test

import (
	"os"
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
	w := parallelWorld(t)
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
	f := pageOf(t, `<p><label>Fixed <input id="fixed" readonly value="x"></label><label>Off <input id="off" disabled value="x"></label>
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
	w := parallelWorld(t)
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
	w := parallelWorld(t)
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

// TestRealNumbers: a page's number is set to its last digit, although Chromium reports and sets
// numbers in 32 bits. After keys it may still report an old text, so the comparison allows for
// that.
func TestRealNumbers(t *testing.T) {
	f := pageOf(t, `<label>Amount <input type="number" id="amount" step="any"></label>`)
	near := func(got any, want string) bool {
		text, _ := got.(string)
		is, err := strconv.ParseFloat(text, 32)
		wanted, _ := strconv.ParseFloat(want, 32)
		return err == nil && is == wanted
	}
	for _, value := range []string{"1000000", "1000001", "20000", "20000.01", "123456789", "0.1", "500", "500.001", "16777217", "1234567.89", "99999999", "1000001", "-7"} {
		set := f.ok("ax_set_value", f.set("spinbutton Amount", value))
		f.comes("amount", value)
		assert.Check(t, is.Equal(at(set.data, "verified"), true), "%s %s", value, set.Text)
		assert.Check(t, near(at(set.data, "element", "value"), value), "%s %s", value, set.Text)
		got := f.ok("ax_get_value", f.on("spinbutton Amount")).data["value"]
		assert.Check(t, near(got, value), "%s is read as %v", value, got)
	}
	for _, value := range []string{"20000.01", "500.001", "16777217"} {
		f.ok("ax_type", params{"app": f.app, "query": "spinbutton Amount", "text": value, "clear_first": true})
		f.comes("amount", value)
	}
	f.ok("ax_fill", params{"app": f.app, "fields": fields("spinbutton Amount", "16777215")})
	f.comes("amount", "16777215")
	for _, value := range []string{"4000123412341234567", "4000123412341234700", "12345678901234567890", "9007199254740993", "9007199254740992", "1234567890123456.78", "-0.12345678901234567891"} {
		set := f.ok("ax_set_value", f.set("spinbutton Amount", value)) // more digits than a program computes with
		f.comes("amount", value)
		if at(set.data, "verified") != true && !strings.Contains(set.Warning, "cannot be read back") { // its text stays unchanged
			t.Errorf("%s: %s", value, set.Text)
		}
	}
	f.ok("ax_set_value", f.set("spinbutton Amount", "12345678901234567890"))
	_, _ = f.do(f.Context(), "ax_type", params{"app": f.app, "query": "spinbutton Amount", "text": "42"}) // the page reports the value
	f.comes("amount", "1234567890123456789042")
	f.ok("ax_set_value", f.set("spinbutton Amount", ""))
	f.comes("amount", "")
	for _, value := range []string{"19.99", "20", "-12.5"} { // also if there is none yet
		for _, value := range []string{"", value} {
			f.ok("ax_type", params{"app": f.app, "query": "spinbutton Amount", "text": value, "clear_first": true})
			f.comes("amount", value)
		}
	}
}

// TestRealPromptOfAPage: the question of a page's prompt names its field, and its buttons are
// judged by that.
func TestRealPromptOfAPage(t *testing.T) {
	f := pageOf(t, `<input id="answer"><button onclick="setTimeout(() => answer.value = prompt('Delete the account for good?', 'x'), 100)">Ask</button>`)
	f.gateway.Gates = []aai.Gate{losses{new(record)}}
	f.ok("ax_click", f.on("button Ask"))
	f.awaitElement(f.app, "button OK")
	for tool, p := range map[string]params{
		"ax_key_press": {"app": f.app, "key": "return"}, "ax_click": f.on("button OK"), "ax_type": {"app": f.app, "text": "hi\n"},
	} {
		f.says(f.refused(aai.ConsentRequired, tool, p).Message, "destroy of")
	}
}

// TestRealSteppedRange: for a number between two steps of a slider the error names the step that it
// took, and the old value is restored.
func TestRealSteppedRange(t *testing.T) {
	f := pageOf(t, `<p><label>Volume <input type="range" id="volume" min="0" max="100" step="5" value="30"></label>
		<label>Gain <input type="range" id="gain" min="3" max="33" step="10" value="13"></label>`)
	between := func(query, id, value, takes, was string) {
		t.Helper()
		e := f.refused(aai.AutomationFailed, "ax_set_value", f.set(query, value))
		f.says(e.Message, "took "+takes, "it has its former value again")
		f.says(e.Hint, takes)
		f.comes(id, was)
		f.done("ax_set_value", f.set(query, takes))
		f.comes(id, takes)
	}
	between("slider Volume", "volume", "53", "55", "30")
	between("slider Gain", "gain", "30", "33", "13")
}

// TestRealDatesQt: date and time fields report their value, and are set in the background in their
// own or in ISO format. A text that the program would show and not accept is rejected. A calendar's
// day is chosen by a click only, and no other element is taken for one.
func TestRealDatesQt(t *testing.T) {
	w := parallelWorld(t)
	p := w.somebody()
	file := filepath.Join(w.Home, "dates")
	app := w.python("dates.py", "Moment", file)
	p.back(t)
	has := func(want string) {
		t.Helper()
		w.eventually("the program has "+want, func() bool { text, _ := os.ReadFile(file); return string(text) == want })
	}
	w.says(w.ok("ax_get_tree", params{"app": app}).Text, `"Departure"`, `"02.01.2027"`, `"08:30"`)
	set := func(field, value string) { w.done("ax_set_value", params{"app": app, "query": field, "value": value}) }
	set("Departure", "14.03.2027")
	set("Return", "2027-03-20")
	set("Hour", "7:45")
	set("Moment", "2027-03-14T09:15")
	has("2027-03-14 2027-03-20 07:45 2027-03-14T09:15 2027-01-02")
	w.says(w.ok("ax_fill", params{"app": app, "fields": fields("Departure", "2028-02-29", "Hour", "23:59")}).Text, "Filled 2 of 2")
	w.done("ax_type", params{"app": app, "query": "Return", "text": "2028-01-01"})
	has("2028-02-29 2028-01-01 23:59 2027-03-14T09:15 2027-01-02")

	for _, wrong := range []string{"soon", "", "2028-02", "5"} {
		e := w.refused(aai.InvalidParams, "ax_set_value", params{"app": app, "query": "Departure", "value": wrong})
		w.says(e.Message, `as spinbutton "Departure" shows it: 29.02.2028`)
	}
	// There is no such day: the field takes the last one, and the error restores the old value.
	w.says(w.refused(aai.AutomationFailed, "ax_set_value", params{"app": app, "query": "Departure", "value": "31.02.2027"}).Message, `"28.02.2027"`)
	has("2028-02-29 2028-01-01 23:59 2027-03-14T09:15 2027-01-02")

	w.says(w.refused(aai.AutomationNotSupported, "ax_click", params{"app": app, "query": "14"}).Message, "would keep its date")
	p.undisturbed(t)
	w.done("ax_click", params{"app": app, "query": "14", "mode": "focus"})
	has("2028-02-29 2028-01-01 23:59 2027-03-14T09:15 2027-01-14")
}
