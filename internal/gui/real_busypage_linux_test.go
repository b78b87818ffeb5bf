package gui_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestRealBusyPage: for a field of a page with a busy script, the error reports the busy program
// and advises to retry, and not that the field takes no text.
func TestRealBusyPage(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<label>Mail <input id="mail"></label>
		<button onclick="setTimeout(() => { const until = Date.now() + 30000; while (Date.now() < until); }, 100)">Spin</button>`)
	f.done("ax_set_value", f.set("textbox Mail", "before"))
	f.comes("mail", "before")
	f.ok("ax_click", f.on("button Spin"))
	e := f.refused(aai.Timeout, "ax_set_value", f.set("textbox Mail", "after"))
	f.says(e.Message, `textbox "Mail"`, "is busy")
	f.says(e.Hint, "again")
	assert.Check(t, is.Equal(e.Delivery, aai.NotDelivered))
}
