package gui_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/automation/undo"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestRealUndo acts on windows of GTK 3 and Qt 6 in the background, and reverts everything in one
// call, from a conversation without the refs. The window reports the values; later changes by
// others stay.
func TestRealUndo(t *testing.T) {
	t.Parallel()
	for _, kind := range []linuxtest.Kind{linuxtest.GTK3, linuxtest.Qt6} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			w := newRealWorld(t)
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
