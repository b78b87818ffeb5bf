package gui_test

import (
	"testing"

	"github.com/gybob/aai-gateway"
)

// TestRealSteppedRange: for a number between two steps of a slider the error names the step that it
// took, and the old value is restored.
func TestRealSteppedRange(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<p><label>Volume <input type="range" id="volume" min="0" max="100" step="5" value="30"></label>
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
