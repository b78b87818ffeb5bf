package gui_test

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// fields returns the fields argument of a call, in order.
func fields(pairs ...string) []any {
	var all []any
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, map[string]any{"query": pairs[i], "value": pairs[i+1]})
	}
	return all
}

// TestRealFill fills a GTK window in one call, in the background. The window reports the result.
func TestRealFill(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f, app := w.open(linuxtest.GTK3)
	p := w.somebody()
	a := w.ok("ax_fill", params{"app": app, "submit": "button Press", "fields": fields(
		"textbox \"Full name\"", unicode, "textbox Notes", "one\ntwo", "textbox Password", "Geh3im-Wort", "slider Volume", "70", "spinbutton Count", "42",
		"combobox Colour", "Blue", "checkbox Agree", "true", "listbox Fruits", "Fruit 5")})
	w.says(a.Text, "Filled 8 of 8 fields.", "Pressed 1 times")
	for key, want := range map[string]any{
		"name": unicode, "notes": "one\ntwo", "password": "Geh3im-Wort", "volume": 70, "count": 42, "colour": "Blue", "agree": true, "fruit": "Fruit 5", "presses": 1,
	} {
		f.WaitState(t, key, want)
	}
	assert.Check(t, is.Equal(at(a.data, "fields", 5, "was"), "Red"))
	p.undisturbed(t)
}

// twelve is a form of a web page, with its button.
const twelve = `<form onsubmit="heard += 1000; return false"><p><label>First name <input id="first"></label><label>Last name <input id="last"></label>
	<label>Email <input type="email" id="email"></label><label>Phone <input type="tel" id="phone"></label><p><label>Street <input id="street"></label>
	<label>City <input id="city"></label><label>Country <select id="country"><option>Austria<option selected>Germany<option>Japan</select></label>
	<label>Guests <input type="number" id="guests" min="1" max="9" value="1"></label><p><label>Arrival <input type="date" id="arrival"></label>
	<label><input type="checkbox" id="news"> Newsletter</label><fieldset><legend>Room</legend><label><input type="radio" name="room" id="single" value="s" checked> Single</label>
	<label><input type="radio" name="room" id="double" value="d"> Double</label></fieldset><label>Wishes <textarea id="wishes"></textarea></label><button>Book</button></form>`

// TestRealFillPage fills a web form in one call and submits it. The page reports the result.
func TestRealFillPage(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webFormIn(twelve, "") // other pages of the browser report the focus
	p := w.somebody()
	a := w.ok("ax_fill", params{"app": f.app, "submit": "button Book", "fields": fields("First name", "Ann", "Last name", unicode, "Email", "ann@example.org", "Phone", "123",
		"Street", "Elm 1", "City", "Graz", "combobox Country", "Japan", "Guests", "4", "textbox Arrival", "2026-03-04", "checkbox Newsletter", "true", "group Room", "Double", "Wishes", "one\ntwo")})
	w.says(a.Text, "Filled 12 of 12 fields.")
	for id, want := range map[string]string{
		"first": "Ann", "last": unicode, "email": "ann@example.org", "phone": "123", "street": "Elm 1", "city": "Graz", "country": "Japan", "guests": "4", "arrival": "2026-03-04",
		"news": "true", "double": "true", "wishes": "one\ntwo",
	} {
		f.comes(id, want)
	}
	f.eventually("the form was sent", func() bool { return len(f.holds("heard")) > 3 })
	assert.Check(t, is.Equal(strings.TrimSpace(fmt.Sprintln(at(a.data, "fields", 6, "was"), at(a.data, "fields", 9, "was"), at(a.data, "fields", 7, "was"), at(a.data, "fields", 10, "was"))), "Germany false 1 Single"))
	p.undisturbed(t)
}
