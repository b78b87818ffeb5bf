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

// TestRealPageInAPage: the keyboard that goes from one page to what is pressed in the page
// around it, or to that page, is no effect.
func TestRealPageInAPage(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<p><button>Dead</button> <button onclick="this.textContent = 'Done'">Works</button>
		<iframe title="Inside" srcdoc="<input aria-label=Inner>"></iframe>`)
	for range 3 {
		f.done("ax_click", f.on("textbox Inner"))
		if a := f.ok("ax_click", f.on("button Dead")); at(a.data, "verified") != false {
			t.Errorf("nothing happened, and it says %s", a.Text)
		}
	}
	f.done("ax_click", f.on("textbox Inner"))
	f.done("ax_click", f.on("button Works"))
}
