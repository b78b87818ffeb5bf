package ax_test

import (
	"testing"

	"aai"
)

// TestRealAlert: while a page's alert is open Chromium shows nothing of the page. The alert is
// what is in front: the outline has it without more, and who asks for the page learns why.
func TestRealAlert(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<p><button onclick="alert('Boo')">Warn</button><button onclick="this.textContent='Done'">Other</button>`)
	a := f.done("ax_click", f.on("button Warn"))
	f.says(a.Text, "Boo", `focus → button "OK"`)
	a = f.ok("ax_get_tree", params{"app": f.app})
	f.says(a.Text, "Boo")
	if a.Warning != "" {
		t.Errorf("%q", a.Warning)
	}
	_, e := f.do(f.Context(), "ax_click", f.on("button Other"))
	if e == nil || e.Code != aai.ElementNotFound {
		t.Fatalf("%+v", e)
	}
	f.says(e.Message, "says", "is before its page")
	f.says(e.Hint, "Answer or close")
	f.done("ax_click", f.on("button OK"))
	f.done("ax_click", f.on("button Other"))
}
