package gui_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestRealOwnCombo: for a list built by the page, without options while closed, the error explains
// how to choose one, and that works in the background.
func TestRealOwnCombo(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<input type="hidden" id="colour"><div role="combobox" tabindex="0" id="box" aria-label="Colour" aria-expanded="false" onclick="list.hidden = false">none</div>
		<div role="listbox" id="list" aria-label="Colours" hidden onclick="colour.value = box.textContent = event.target.textContent; list.hidden = true">
		<div role="option" aria-selected="false">Red</div><div role="option" aria-selected="false">Blue</div></div>`)
	p := w.somebody()
	e := f.refused(aai.AutomationNotSupported, "ax_set_value", f.set("combobox Colour", "Blue"))
	assert.Check(t, is.Equal(e.Delivery, aai.NotDelivered))
	if f.says(e.Hint, "ax_click"); strings.Contains(e.Hint, "focus") {
		t.Errorf("the hint is %q", e.Hint)
	}
	f.ok("ax_click", f.on("combobox Colour"))
	f.ok("ax_click", f.on("option Blue"))
	f.comes("colour", "Blue")
	p.undisturbed(t)
}
