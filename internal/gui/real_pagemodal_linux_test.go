package gui_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestRealModalOfAPage: elements behind a page's own modal dialog are absent while it is open. The
// error names the dialog, and so does the click that opened it.
func TestRealModalOfAPage(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<button onclick="ask.showModal()">Open</button><button>Shout</button>
		<dialog id="ask" aria-label="Really do it?"><p>Think</p><button onclick="ask.close()">You</button></dialog>`)
	shout := f.ok("ax_find", f.on("button Shout")).Text
	_, shout, _ = strings.Cut(shout, "[")
	shout, _, _ = strings.Cut(shout, "]")
	f.says(f.ok("ax_click", f.on("button Open")).Text, `dialog "Really do it?"`)
	f.says(f.refused(aai.StaleRef, "ax_click", f.on(shout)).Message, `dialog "Really do it?"`)
	e := f.refused(aai.ElementNotFound, "ax_click", f.on("button Shout"))
	f.says(e.Message, `dialog "Really do it?"`)
	f.says(e.Hint, "until it is closed", "ax_get_tree")
	assert.Check(t, is.Equal(e.Delivery, aai.NotDelivered))
	f.ok("ax_click", f.on("button You"))
	f.ok("ax_click", f.on("button Shout"))
}
