package gui_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/automation/undo"
	"github.com/gybob/aai-gateway/internal/events"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestRealUndo acts on windows of GTK 3 and Qt 6 in the background, and reverts everything in one
// call, from a conversation without the refs. The window reports the values; later changes by
// others stay.
func TestRealUndo(t *testing.T) {
	t.Parallel()
	for _, kind := range []linuxtest.Kind{linuxtest.GTK3, linuxtest.Qt6} {
		t.Run(string(kind), func(t *testing.T) {
			w := parallelWorld(t)
			log := undo.NewLog(undo.Config{})
			f, app := w.open(kind)
			p := w.somebody()
			w.ok("ax_set_value", params{"app": app, "query": `textbox "Full name"`, "value": unicode})
			w.ok("ax_set_value", params{"app": app, "query": "listbox Fruits", "value": "Fruit 2"})
			f.WaitState(t, "name", unicode)
			before := f.State(t)
			w.gateway.MutationObserver = log
			form, want := fields("slider Volume", "70", "listbox Fruits", "Fruit 5"), map[string]any{"count": 42, "agree": true, "volume": 70, "fruit": "Fruit 5", "notes": "one\ntwo"}
			if kind == linuxtest.GTK3 { // Qt opens its list for it
				form, want["colour"] = append(form, fields("combobox Colour", "Blue")...), "Blue"
			}
			scrolled := 0
			if kind == linuxtest.GTK3 { // Qt reports no scroll bar: the wheel turns, by an unknown distance
				scrolled = 1
				w.ok("ax_scroll", params{"app": app, "query": "listbox Fruits", "amount": 100})
				f.WaitFor(t, "it is scrolled", func(state map[string]any) bool { return state["scroll"] != before["scroll"] })
			}
			for _, act := range []struct {
				tool string
				p    params
			}{
				{"ax_type", params{"query": `textbox "Full name"`, "text": "more"}},
				{"ax_set_value", params{"query": "spinbutton Count", "value": "42"}},
				{"ax_click", params{"query": "checkbox Agree"}},
				{"ax_set_value", params{"query": "textbox Notes", "value": "one\ntwo"}},
				{"ax_fill", params{"fields": form}},
				{"ax_set_value", params{"query": "textbox Password", "value": "Geh3im-Wort"}},
				{"ax_window", params{"action": "minimize"}},
			} {
				act.p["app"] = app
				w.ok(act.tool, act.p)
			}
			for key, value := range want {
				f.WaitState(t, key, value)
			}
			person := *w
			person.caller.Session = "another"
			undone := func(count int) []undo.Reverted {
				taken, _, err := log.Revert(t.Context(), w.gateway.Do, w.caller, count, func(*undo.Act) bool { return true })
				assert.NilError(t, err)
				assert.Assert(t, is.Len(taken, count))
				return taken
			}
			taken := undone(1)
			assert.Check(t, taken[0].Outcome.IsUndone(), "the window: %+v", taken[0].Outcome)
			person.ok("ax_set_value", params{"app": app, "query": "textbox Notes", "value": "the person's"})
			for i, one := range undone(6 + scrolled) {
				want := undo.StatusUndone
				switch one.Act.Tool + one.Act.Element.Name {
				case "ax_set_valuePassword":
					want = undo.StatusIrreversible
				case "ax_set_valueNotes":
					want = undo.StatusChangedSince
				}
				assert.Check(t, is.Equal(one.Outcome.Status, want), "%d %s %+v", i, one.Act, one.Outcome)
			}
			for _, key := range []string{"name", "count", "agree", "volume", "colour", "fruit"} {
				f.WaitState(t, key, before[key])
			}
			if scrolled > 0 {
				f.WaitState(t, "scroll", before["scroll"])
			}
			f.WaitState(t, "notes", "the person's")
			p.undisturbed(t)
		})
	}
}

// TestRealUndoOfAPage: dates of a page that were filled or empty are restored; secrets are reported
// as not restored.
func TestRealUndoOfAPage(t *testing.T) {
	f := pageOf(t, `<p><label>Day <input type="date" id="day" value="2027-01-02"></label>
		<label>Start <input type="date" id="start"></label><label>Time <input type="time" id="time"></label>
		<label>Mail <input id="mail"></label><label>Secret <input type="password" id="secret"></label>`)
	log := undo.NewLog(undo.Config{})
	f.gateway.MutationObserver = log
	form := fields("textbox Day", "2026-07-08", "textbox Start", "2026-07-09", "textbox Time", "13:45", "textbox Mail", "k@k.k")
	back := func(want undo.Status, says ...string) {
		t.Helper()
		taken, _, err := log.Revert(t.Context(), f.gateway.Do, f.caller, 1, func(*undo.Act) bool { return true })
		assert.NilError(t, err)
		assert.Assert(t, is.Len(taken, 1))
		assert.Equal(t, taken[0].Outcome.Status, want)
		f.says(taken[0].Outcome.Message, says...)
		for id, value := range map[string]string{"day": "2027-01-02", "start": "", "time": "", "mail": ""} {
			f.comes(id, value)
		}
	}
	fill := func(form []any) {
		t.Helper()
		f.ok("ax_fill", params{"app": f.app, "fields": form})
		for id, value := range map[string]string{"day": "2026-07-08", "start": "2026-07-09", "time": "13:45", "mail": "k@k.k"} {
			f.comes(id, value)
		}
	}
	fill(form)
	back(undo.StatusUndone, "the fields have their former values again")
	fill(append(form, fields("textbox Secret", "Geh3im-Wort")...))
	f.comes("secret", "Geh3im-Wort")
	back(undo.StatusPartial, "4 of 5 fields have their former values again", `not restored: "textbox Secret"`)
	f.comes("secret", "Geh3im-Wort")
	taken, _, err := log.Revert(t.Context(), f.gateway.Do, f.caller, 20, func(*undo.Act) bool { return true })
	assert.NilError(t, err)
	assert.Assert(t, is.Len(taken, 0))
	f.ok("ax_set_value", f.set("textbox Start", "2026-07-09"))
	back(undo.StatusUndone, `textbox "Start"`)
}

// eventsOf reads the events of a program after a number.
func (w *realWorld) eventsOf(app string, after uint64) (view events.View) {
	w.Helper()
	text, err := json.Marshal(w.ok("ax_get_events", params{"app": app, "after": after, "limit": 10_000}).Data)
	if err == nil {
		err = json.Unmarshal(text, &view)
	}
	assert.NilError(w, err)
	return view
}

// eventLine is an event without its number and time.
func eventLine(e events.Event) string {
	line := e.Type
	for _, part := range []string{e.Detail, e.Element} {
		if part != "" {
			line += " " + part
		}
	}
	if e.Title != "" {
		line += " in " + e.Title
	}
	return line
}

// hears waits until the events after the number in last contain all wanted ones, with the window's title, and moves last
// on.
func (w *realWorld) hears(app string, last *uint64, wanted ...string) {
	w.Helper()
	var heard []string
	defer func() {
		if w.Failed() {
			w.Logf("heard: %q", heard)
		}
	}()
	w.eventually(fmt.Sprintf("the events are %q", wanted), func() bool {
		v := w.eventsOf(app, *last)
		for _, e := range v.Events {
			heard = append(heard, eventLine(e))
		}
		*last = v.Last
		return !slices.ContainsFunc(wanted, func(want string) bool { return !slices.Contains(heard, want) })
	})
}

// TestRealEvents: what a person does in the windows of a toolkit arrives as events with the names of elements and windows.
func TestRealEvents(t *testing.T) {
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			w := newRealWorld(t)
			f, app := w.open(kind)
			last := w.eventsOf(app, 0).Last
			title := " in " + f.Title
			f.Press(t, "Agree")
			w.hears(app, &last, `state_changed checked checkbox "Agree"`+title)
			f.Press(t, "Full name")
			w.hears(app, &last, `focus_changed textbox "Full name"`+title)
			w.run("xdotool", "type", "a")
			w.hears(app, &last, `text_changed textbox "Full name"`+title)
			f.Press(t, "Volume")
			w.hears(app, &last, `focus_changed slider "Volume"`+title, `value_changed slider "Volume"`+title)
			f.Press(t, "Fruit 2")
			selects := `selection_changed listbox "Fruits"`
			if kind == linuxtest.Qt6 { // it reports the item alone
				selects = `state_changed selected option "Fruit 2"`
			}
			w.hears(app, &last, selects+title)
			f.Press(t, "Open dialog")
			opened, closed := []string{"dialog_appeared in Really?"}, []string{`focus_changed button "Open dialog"` + title}
			if kind != linuxtest.Chromium { // there the dialog is a part of the page
				opened = append(opened, `window_opened dialog "Really?" in Really?`)
				closed = append(closed, `window_closed dialog "Really?" in Really?`)
			}
			w.hears(app, &last, opened...)
			w.run("xdotool", "key", "Escape")
			w.hears(app, &last, closed...)
		})
	}
	t.Run("writer", func(t *testing.T) {
		w := newRealWorld(t)
		app := w.process(w.Writer(t, "A text."))
		w.awaitElement(app, "Bold")
		last := w.eventsOf(app, 0).Last
		const title = " in text.fodt - LibreOffice Writer"
		w.run("xdotool", "type", "b")
		w.hears(app, &last, "text_changed paragraph"+title)
		w.run("xdotool", "key", "ctrl+a")
		w.hears(app, &last, "selection_changed paragraph"+title)
		w.run("xdotool", "key", "ctrl+h")
		w.hears(app, &last, `dialog_appeared in Find and Replace`, `window_opened dialog "Find and Replace" in Find and Replace`)
		w.run("xdotool", "key", "Escape")
		w.hears(app, &last, `window_closed dialog "Find and Replace" in Find and Replace`)
	})
}
