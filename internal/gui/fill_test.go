package gui_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

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

func TestScroll(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		a := w.ok("ax_scroll", `{"app": "Form", "query": "Fruits"}`)
		w.want(a, "its scroll bar", "way")
		w.want(a, true, "verified")
		w.has(a.Text, "Scrolled down")
		if got := f.Fruits.Offset(); got != 5 { // 100 pixels
			w.Errorf("scrolled to item %d", got)
		}
		w.ok("ax_scroll", `{"app": "Form", "query": "Fruit 7", "direction": "up", "amount": 40}`)
		got := f.Fruits.Offset()
		assert.Check(w, is.Equal(got, 3), "scrolled to item %d", got)
		w.ok("ax_scroll", `{"app": "Form", "amount": 100000}`)
		got = f.Fruits.Offset()
		assert.Check(w, is.Equal(got, 34), "scrolled to item %d, want the last", got)
		w.has(w.ok("ax_scroll", `{"app": "Form"}`).Warning, "nothing was seen to change") // at the end of the list
	})
}

// TestScrollByWheel: without a scroll bar, the gateway's own pointer turns the wheel.
func TestScrollByWheel(t *testing.T) {
	inWorldWithout(t, func(b *desktop.Backend) { b.Actor = nil }, func(w *world) {
		f := form(w)
		w.d.Program("Other").Window("Person")
		a := w.ok("ax_scroll", `{"app": "Form", "query": "Fruits", "amount": 50}`)
		w.has(a.Text, "in the background")
		got := f.Fruits.Offset()
		assert.Check(w, is.Equal(got, 3), "scrolled to item %d", got)
		p := w.d.Person()
		assert.Check(w, is.Equal(p.PointerMoves, 0), "the person noticed %+v", p)
		w.ok("ax_scroll", `{"app": "Form", "query": "Fruits", "direction": "up", "mode": "focus"}`)
		p = w.d.Person()
		assert.Check(w, is.Equal(p.PointerMoves, 1), "%+v", p)
		assert.Check(w, is.Equal(f.Fruits.Offset(), 0), "%+v", p)
	})
}

func TestScrollToView(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		e := w.failure(aai.ElementNotFound, "ax_click", `{"app": "Form", "query": "Fruit 30"}`)
		w.has(e.Hint, "to_view")
		a := w.ok("ax_scroll", `{"app": "Form", "query": "Fruit 30", "to_view": true}`)
		w.want(a, true, "verified")
		w.ok("ax_click", `{"app": "Form", "query": "Fruit 30"}`)
		assert.Check(w, is.Equal(f.State()["fruit"], "Fruit 30"))
		w.want(w.ok("ax_scroll", `{"app": "Form", "query": "Fruit 30", "to_view": true}`), true, "verified")
		w.fails(aai.InvalidParams, "ax_scroll", `{"app": "Form", "to_view": true}`)
		since := w.mutations()
		w.want(w.ok("ax_scroll", `{"app": "Form", "query": "Press", "to_view": true}`), true, "verified")
		w.nothingDone(since) // it was in view already
	})
}

// TestScrollTheFrontWindow: without an element, the front window scrolls.
func TestScrollTheFrontWindow(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.d.Program("Lists")
		rows := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}
		back := p.Window("Back").List("One", 3, rows...)
		front := p.Window("Front").List("Two", 3, rows...)
		w.ok("ax_scroll", `{"app": "Lists", "amount": 40}`)
		assert.Check(w, is.Equal(back.Offset(), 0))
		assert.Check(w, is.Equal(front.Offset(), 2))
	})
}

func TestDrag(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		e := w.failure(aai.AutomationNotSupported, "ax_drag", `{"app": "Form", "from_query": "Canvas", "to_query": "Status: ready"}`)
		w.has(e.Hint, "focus")
		took := elapsed(func() {
			w.ok("ax_drag", `{"app": "Form", "from_query": "Canvas", "to_query": "Status: ready", "duration_ms": 700, "mode": "focus"}`)
		})
		if drags, _ := f.State()["drags"].([]any); len(drags) != 1 || took < 700*time.Millisecond {
			w.Errorf("dragged %v in %s", drags, took)
		}
		at := middleOf(w, "Canvas")
		w.ok("ax_drag", fmt.Sprintf(`{"app": "Form", "from_x": %d, "from_y": %d, "to_x": %d, "to_y": %d, "mode": "focus"}`, at.X, at.Y, at.X+5, at.Y))
		drags, _ := f.State()["drags"].([]any)
		from, to := fmt.Sprint(atIndex(drags, 1, "from", 0)), fmt.Sprint(atIndex(drags, 1, "to", 0))
		assert.Check(w, from != to, "dragged %v", drags)
		w.fails(aai.InvalidParams, "ax_drag", `{"app": "Form", "from_query": "Canvas"}`)
		w.fails(aai.InvalidParams, "ax_drag", `{"app": "Form", "from_query": "Canvas", "to_x": 5}`)
		w.fails(aai.InvalidParams, "ax_drag", `{"app": "Form", "from_query": "Canvas", "to_x": 1599, "to_y": 2}`)
		w.fails(aai.AutomationFailed, "ax_drag", `{"app": "Form", "from_query": "Disabled", "to_query": "Canvas"}`)
	})
}

func atIndex(list []any, path ...any) any { return at(list, path...) }

// TestDragWhileTheProgramChanges: the reply names the dragged element, even if the program was read
// again for the other end.
func TestDragWhileTheProgramChanges(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.d.Program("Board")
		win := p.Window("Board")
		first := win.Text("Soon gone")
		dragged := 0
		win.Canvas("Card").OnDrag(func(desktop.Point, desktop.Point) { dragged++; win.Text("Dropped") })
		p.After(200*time.Millisecond, func() {
			first.Remove()
			win.Canvas("Bin")
		})
		a := w.ok("ax_drag", `{"app": "Board", "from_query": "Card", "to_query": "Bin", "mode": "focus"}`)
		w.has(a.Text, `Dragged canvas "Card"`)
		assert.Check(w, is.Equal(dragged, 1), "dragged %d times", dragged)
	})
}

// noText is an actor that edits no text.
type noText struct{ desktop.Actor }

func (a noText) Execute(ctx context.Context, app desktop.App, id desktop.ID, act desktop.Act) error {
	if act.Verb == desktop.SetText || act.Verb == desktop.InsertText {
		return &aai.Error{Code: aai.AutomationNotSupported, Message: "no editable text", Delivery: aai.NotDelivered}
	}
	return a.Actor.Execute(ctx, app, id, act)
}

// lateText is an actor that edits text some time after its reply.
type lateText struct {
	desktop.Actor
	late time.Duration
}

func (a lateText) Execute(ctx context.Context, app desktop.App, id desktop.ID, act desktop.Act) error {
	time.AfterFunc(a.late, func() { _ = a.Actor.Execute(context.WithoutCancel(ctx), app, id, act) })
	return nil
}

// beforeActing is an actor that runs a function before it acts.
type beforeActing struct {
	desktop.Actor
	happen func()
}

func (a beforeActing) Execute(ctx context.Context, app desktop.App, id desktop.ID, act desktop.Act) error {
	a.happen()
	return a.Actor.Execute(ctx, app, id, act)
}

// deaf is a clipboard that ignores writes.
type deaf struct{ desktop.Clipboard }

func (deaf) Set(context.Context, desktop.Clip) (string, error) { return "", nil }
