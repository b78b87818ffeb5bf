package gui_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/automation/undo"
)

// TestRealUndoOfAPage: dates of a page that were filled or empty are restored; secrets are reported
// as not restored.
func TestRealUndoOfAPage(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<p><label>Day <input type="date" id="day" value="2027-01-02"></label>
		<label>Start <input type="date" id="start"></label><label>Time <input type="time" id="time"></label>
		<label>Mail <input id="mail"></label><label>Secret <input type="password" id="secret"></label>`)
	log := undo.NewLog(undo.Config{})
	w.gateway.MutationObserver = log
	form := fields("textbox Day", "2026-07-08", "textbox Start", "2026-07-09", "textbox Time", "13:45", "textbox Mail", "k@k.k")
	back := func(want undo.Status, says ...string) {
		t.Helper()
		taken, _, err := log.Revert(t.Context(), w.gateway.Do, w.caller, 1, func(*undo.Act) bool { return true })
		assert.NilError(t, err)
		assert.Assert(t, is.Len(taken, 1))
		assert.Equal(t, taken[0].Outcome.Status, want)
		w.says(taken[0].Outcome.Message, says...)
		for id, value := range map[string]string{"day": "2027-01-02", "start": "", "time": "", "mail": ""} {
			f.comes(id, value)
		}
	}
	fill := func(form []any) {
		t.Helper()
		w.ok("ax_fill", params{"app": f.app, "fields": form})
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
	taken, _, err := log.Revert(t.Context(), w.gateway.Do, w.caller, 20, func(*undo.Act) bool { return true })
	assert.NilError(t, err)
	assert.Assert(t, is.Len(taken, 0))
	w.ok("ax_set_value", f.set("textbox Start", "2026-07-09"))
	back(undo.StatusUndone, `textbox "Start"`)
}
