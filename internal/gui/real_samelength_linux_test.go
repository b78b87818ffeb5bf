package gui_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/automation/undo"
)

// TestRealSameLength: Chromium reports no event when keys overwrite a text with one of the same
// length in a field with a button. A refresh makes it report, and the call succeeds.
func TestRealSameLength(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<input type="search" aria-label="Search" id="search"><label>Town <input list="towns" id="town"></label>
		<datalist id="towns"><option>Bonn<option>Kiel</datalist><label>Street <input id="street"></label>`)
	log := undo.NewLog(undo.Config{})
	w.gateway.MutationObserver = log
	back := func() {
		t.Helper()
		taken, _, err := log.Revert(t.Context(), w.gateway.Do, w.caller, 1, func(*undo.Act) bool { return true })
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
