package gui_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// TestFill: one call fills fields of every kind, and reports their old values.
func TestFill(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		w.ok("ax_set_value", `{"app": "Form", "query": "Full name", "value": "Bob"}`)
		a := w.ok("ax_fill", `{"app": "Form", "fields": [
			{"query": "Full name", "value": "Ann"}, {"query": "Notes", "value": "a\nb"}, {"query": "Volume", "value": "55"}, {"query": "Count", "value": "7"},
			{"query": "Colour", "value": "Blue"}, {"query": "Agree", "value": "true"}, {"query": "Fruits", "value": "Fruit 5"}]}`)
		w.has(a.Text, "Filled 7 of 7 fields.")
		state := f.State()
		for key, want := range map[string]any{"name": "Ann", "notes": "a\nb", "volume": 55.0, "count": 7.0, "colour": "Blue", "agree": true, "fruit": "Fruit 5"} {
			assert.Check(w, is.Equal(state[key], want), key)
		}
		for n, was := range []any{"Bob", "", "30", "5", "Red", "false"} {
			w.want(a, true, "fields", n, "done")
			w.want(a, was, "fields", n, "was")
		}
		assert.Assert(w, !strings.Contains(a.Text, "Ann"), "what was filled is told again: %s", a.Text)
		assert.Assert(w, !strings.Contains(a.Text, "Blue"), "what was filled is told again: %s", a.Text)
	})
}

// TestFillNamesWhatIsNotFilled: the other fields stay filled, and the form is not submitted.
func TestFillNamesWhatIsNotFilled(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		partly := w.failure(aai.AutomationFailed, "ax_fill", `{"app": "Form", "submit": "Press", "fields": [
			{"query": "Full name", "value": "Ann"}, {"query": "Volume", "value": "101"}, {"query": "Shoe size", "value": "42"},
			{"query": "Colour", "value": "Purple"}, {"query": "Count", "value": "7"}]}`)
		w.has(partly.Message, "Filled 2 of 5 fields.", `"Volume": value: expected a number from 0 to 100`, `"Shoe size": nothing`, `"Colour": value:`, "Red", "Not submitted")
		s := f.State()
		assert.Check(w, is.Equal(s["name"], "Ann"), s)
		assert.Check(w, is.Equal(s["count"], 7.0), s)
		assert.Check(w, is.Equal(s["volume"], 30.0), s)
		assert.Check(w, is.Equal(s["presses"], 0.0), s)
		report, err := json.Marshal(at(partly.Data, "fields", 1))
		assert.NilError(w, err, report)
		assert.Assert(w, is.Contains(string(report), `"done":false,"error":"value: expected a number`), report)
		report, err = json.Marshal(partly.Data)
		assert.NilError(w, err, report)
		assert.Assert(w, !strings.Contains(string(report), "Purple"), "the report repeats a value: %s, %v", report, err)
		since := w.mutations()
		e := w.failure(aai.ElementNotFound, "ax_fill", `{"app": "Form", "fields": [{"query": "Shoe size", "value": "42"}, {"query": "Hat size", "value": "42"}]}`)
		w.has(e.Message, "none of the 2 fields", "Shoe size", "Hat size")
		w.fails(aai.ElementNotFound, "ax_fill", `{"app": "Form", "submit": "Send", "fields": [{"query": "Full name", "value": "Bob"}]}`)
		w.fails(aai.InvalidParams, "ax_fill", `{"app": "Form", "fields": [{"query": "Full name", "value": "Bob"}, {"query": "textbox Full name", "value": "Cy"}]}`)
		w.fails(aai.InvalidParams, "ax_fill", `{"app": "Form", "fields": [{"query": "Full name", "value": "Bob\n"}]}`)
		w.nothingDone(since)
	})
}

// TestFillSubmits: by the button, or by return in the last field.
func TestFillSubmits(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		a := w.ok("ax_fill", `{"app": "Form", "submit": "Press", "fields": [{"query": "Full name", "value": "Ann"}]}`)
		w.has(a.Text, "Filled 1 of 1", `Clicked button "Press"`, "Pressed 1 times")
		w.want(a, true, "submitted")
		assert.Check(w, is.Equal(f.State()["presses"], 1.0), "it was not pressed")
		since := w.mutations()
		w.ok("ax_fill", `{"app": "Form", "submit": "return", "fields": [{"query": "Count", "value": "9"}, {"query": "Full name", "value": "Cy"}]}`)
		if done := since(); !strings.HasPrefix(done[len(done)-1], "Key own") || f.State()["name"] != "Cy" {
			w.Errorf("done %q, state %v", done, f.State())
		}
	})
}

// TestFillIsOneRecord: one journal line contains all targets, the pressed ones first, since a long
// line is cut; it contains no typed text.
func TestFillIsOneRecord(t *testing.T) {
	inWorld(t, func(w *world) {
		form(w)
		w.ok("ax_find", `{"app": "Form", "query": "Press"}`)
		w.ok("ax_fill", `{"app": "Form", "submit": "Press", "fields": [{"query": "Full name", "value": "Ann Nonymous"}, {"query": "Password", "value": "s3cr3t-Wort"}, {"query": "Count", "value": "8"}]}`)
		on := w.record.last(aai.Outcome).Element
		assert.Check(w, is.Equal(on.Role, "form"), "%+v", on)
		assert.Check(w, is.Equal(on.Name, "Press / Full name / Password / Count"), "%+v", on)
		text := w.record.text()
		assert.Assert(w, !strings.Contains(text, "Nonymous"), "the record is %s", text)
		assert.Assert(w, !strings.Contains(text, "s3cr3t"), "the record is %s", text)
		assert.Assert(w, is.Contains(text, `"query":"Full name"`))
	})
}

// TestFillJudgesAll: a gate sees the text of all fields and buttons, and refuses before the first
// field is touched.
func TestFillJudgesAll(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		f.Main.Button("Wipe", func() {})
		w.ok("ax_find", `{"app": "Form", "query": "Wipe"}`)
		w.ok("ax_fill", `{"app": "Form", "submit": "Wipe", "fields": [{"query": "Full name", "value": "Ann"}, {"query": "Count", "value": "8"}]}`)
		says := w.record.lastRequest().Element.AllText
		w.has(says, "Full name", "Count", "Wipe")
		since := w.mutations()
		w.gateway.Gates = append(w.gateway.Gates, refuses{"Wipe"})
		w.fails(aai.PermissionDenied, "ax_fill", `{"app": "Form", "submit": "Wipe", "fields": [{"query": "Full name", "value": "Bob"}]}`)
		w.nothingDone(since)
	})
}

// refuses is a gate that refuses calls with the word in their target.
type refuses struct{ word string }

func (g refuses) Check(ctx context.Context, r *aai.Request) ([]aai.Question, error) {
	if strings.Contains(r.ResolveTarget(ctx).AllText, g.word) {
		return nil, aai.Errorf(aai.PermissionDenied, "it says %s", g.word)
	}
	return nil, nil
}

// TestFillByKeys: an earlier field no longer has the keyboard.
func TestFillByKeys(t *testing.T) {
	inWorldWithout(t, func(b *desktop.Backend) { b.Actor = noText{b.Actor} }, func(w *world) {
		f := form(w)
		w.ok("ax_click", `{"app": "Form", "query": "Notes"}`)
		for n := range 3 {
			w.ok("ax_fill", fmt.Sprintf(`{"app": "Form", "fields": [{"query": "Full name", "value": "Ann %d"}, {"query": "Notes", "value": "Bob %d"}]}`, n, n))
			s := f.State()
			assert.Check(w, is.Equal(s["name"], fmt.Sprint("Ann ", n)), s)
			assert.Check(w, is.Equal(s["notes"], fmt.Sprint("Bob ", n)), s)
		}
	})
}

// TestFillThatChangesTheForm: fields that appear during filling are filled as well, and vanished
// ones are reported.
func TestFillThatChangesTheForm(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		more := f.Main.Checkbox("More")
		var street *fakeElement
		more.OnChange(func() { street = f.Main.Textbox("Street") })
		a := w.ok("ax_fill", `{"app": "Form", "fields": [{"query": "More", "value": "true"}, {"query": "Street", "value": "Elm 1"}]}`)
		w.has(a.Text, "Filled 2 of 2")
		assert.Check(w, is.Equal(street.Value(), "Elm 1"), "it holds %q", street.Value())
		w.has(w.record.last(aai.Outcome).Element.Name, "Street")
	})
}
