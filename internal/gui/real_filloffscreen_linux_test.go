package gui_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// farForm is a form that is longer than the view: a text, a list and a check box at the top, and
// the submit button at the end.
var farForm = `<form onsubmit="heard += 1000; return false"><label>First name <input id="first" oninput="greet.textContent = 'Hello ' + value"></label> <p id="greet">Nobody</p>
<label>Country <select id="country"><option>Austria<option selected>Germany<option>Japan</select></label>
<label><input type="checkbox" id="news"> Newsletter</label>` + strings.Repeat("<p>Much is said in between.</p>\n", 100) +
	`<label>Wishes <textarea id="wishes"></textarea></label><button>Book</button></form>`

// TestRealFillOutOfView: each field is scrolled into view before it is filled, at any scroll
// position, and so is the submit button.
func TestRealFillOutOfView(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(farForm)
	f.ok("ax_scroll", params{"app": f.app, "query": "button Book", "to_view": true})
	const brought = "Scrolled into view: "
	a := f.ok("ax_fill", params{"app": f.app, "fields": fields("First name", "Ann", "combobox Country", "Japan", "checkbox Newsletter", "true")})
	f.says(a.Text, "Filled 3 of 3 fields.", brought+`textbox "First name"`, "Hello Ann")
	assert.Check(t, !strings.Contains(a.Text, "Much is said"), "what is scrolled is told as what changed: %s", a.Text)
	for id, want := range map[string]string{"first": "Ann", "country": "Japan", "news": "true"} {
		f.comes(id, want)
	}
	a = f.ok("ax_fill", params{"app": f.app, "submit": "button Book", "fields": fields("Wishes", "one\ntwo", "First name", "Eve")})
	f.says(a.Text, "Filled 2 of 2 fields.", brought, `textbox "Wishes"`, `textbox "First name"`, `button "Book"`)
	if n := strings.Count(a.Text, "crolled into view"); n != 1 {
		t.Errorf("that things were out of view is said %d times: %s", n, a.Text)
	}
	f.comes("wishes", "one\ntwo")
	f.comes("first", "Eve")
	f.eventually("the form was sent", func() bool { return len(f.holds("heard")) > 3 })
	a = f.ok("ax_fill", params{"app": f.app, "fields": fields("Wishes", "three")})
	assert.Check(t, !strings.Contains(a.Text, brought), "what is in view is brought there: %s", a.Text)
}

// TestRealFillEmptied: a field that the page empties on leaving is reported, and the form is not
// submitted.
func TestRealFillEmptied(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<form onsubmit="heard += 1000; return false"><label>Code <input id="code" onblur="value = /^[0-9]+$/.test(value) ? value : ''"></label>
		<label>Name <input id="name"></label><label>Notes <textarea id="notes"></textarea></label><button>Book</button></form>`)
	a := f.ok("ax_fill", params{"app": f.app, "submit": "button Book", "fields": fields("Code", "x1", "Name", "Ann", "Notes", "one\ntwo")})
	f.says(a.Text, "Filled 3 of 3 fields. The program has cleared e", "Not submitted.")
	all, _ := a.data["fields"].([]any)
	assert.Assert(t, is.Len(all, 3), a.data["fields"])
	assert.Assert(t, at(all[0], "error") != nil, "the fields are %v", a.data["fields"])
	assert.Assert(t, at(all[1], "error") == nil, "the fields are %v", a.data["fields"])
	assert.Assert(t, at(all[2], "error") == nil, "the fields are %v", a.data["fields"])
	a = f.ok("ax_fill", params{"app": f.app, "submit": "button Book", "fields": fields("Code", "12", "Name", "Eve")})
	assert.Check(t, !strings.Contains(a.Text, "has cleared"), "nothing was emptied: %s", a.Text)
	f.comes("name", "Eve")
	f.eventually("the form was sent", func() bool { return len(f.holds("heard")) > 3 })
}
