package gui_test

import (
	"testing"

	"github.com/gybob/aai-gateway"
)

// TestRealBusyPage: a field of a page whose script is at work is not one that takes no text:
// it is said that the program is busy, and that another call may do.
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
	if e.Delivery != aai.NotDelivered {
		t.Errorf("delivery is %s", e.Delivery)
	}
}
