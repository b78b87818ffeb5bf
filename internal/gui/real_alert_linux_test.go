package gui_test

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui"
)

// TestRealAlert: while a page's alert is open Chromium hides the page. The tree contains the alert,
// and an error for an element of the page gives the reason.
func TestRealAlert(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<p><button onclick="alert('Boo')">Warn</button><button onclick="this.textContent='Done'">Other</button>`)
	a := f.done("ax_click", f.on("button Warn"))
	f.says(a.Text, "Boo", `focus → button "OK"`)
	a = f.ok("ax_get_tree", params{"app": f.app})
	f.says(a.Text, "Boo")
	assert.Check(t, is.Equal(a.Warning, ""))
	_, e := f.do(f.Context(), "ax_click", f.on("button Other"))
	assert.Assert(t, e != nil, "%+v", e)
	assert.Equal(t, e.Code, aai.ElementNotFound, "%+v", e)
	f.says(e.Message, "says", "is before its page")
	f.says(e.Hint, "Answer or close")
	f.done("ax_click", f.on("button OK"))
	f.done("ax_click", f.on("button Other"))
}

// inBackground waits until the person has the focus, and the browser has noticed that.
func (f *webForm) inBackground(t *testing.T, p *person) {
	t.Helper()
	p.back(t)
	f.eventually("the browser has heard that its window is in the background", func() bool { return !strings.Contains(f.shown(f.app), "] active") })
}

// TestRealKeysInADialogOfAPage: a dialog of the page gets the keys in the background, although
// Chromium reports the page as focused. The keys are judged by the dialog's question, and the
// pressed button is on record.
func TestRealKeysInADialogOfAPage(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]struct{ focus, behind string }{"the page": {}, "its button": {"autofocus", " / Proceed"}} {
		t.Run(name, func(t *testing.T) {
			w := newRealWorld(t)
			p := w.somebody()
			f := w.webForm(`<p><button ` + page.focus + ` onclick="if (confirm('Delete the account for good?')) this.textContent = 'Gone'">Proceed</button>`)
			f.inBackground(t, p)
			f.ok("ax_click", f.on("button Proceed"))
			judged := *w
			judged.offers(gui.Config{Open: func() desktop.Backend { return w.backend }}, losses{w.record})
			for _, key := range []string{"return", "space"} {
				for _, seen := range []bool{false, true} {
					if seen {
						judged.ok("ax_get_tree", params{"app": f.app})
					}
					e := judged.refused(aai.ConsentRequired, "ax_key_press", params{"app": f.app, "key": key})
					judged.says(fmt.Sprint(e.Message, e.Questions), `button "OK / Cancel`)
				}
			}
			f.ok("ax_get_tree", params{"app": f.app}) // the dialog is still open
			f.ok("ax_key_press", params{"app": f.app, "key": "return"})
			on, want := w.record.last(aai.Outcome).Element.String(), `button "OK / Cancel`+page.behind+`" in "Form"`
			assert.Check(t, is.Equal(on, want), "on record is %s, want %s", on, want)
			w.awaitElement(f.app, "button Gone")
			p.undisturbed(t)
		})
	}
}

// TestRealPageInAPage: a focus move between a page and its enclosing page is no effect.
func TestRealPageInAPage(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<p><button>Dead</button> <button onclick="this.textContent = 'Done'">Works</button>
		<iframe title="Inside" srcdoc="<input aria-label=Inner>"></iframe>`)
	for range 3 {
		f.done("ax_click", f.on("textbox Inner"))
		a := f.ok("ax_click", f.on("button Dead"))
		assert.Check(t, is.Equal(at(a.data, "verified"), false), "nothing happened, and it says %s", a.Text)
	}
	f.done("ax_click", f.on("textbox Inner"))
	f.done("ax_click", f.on("button Works"))
}

// TestRealPageThatAsks: a browser in the background reports the page behind the page's question. A
// click there has no effect, and the reply names the open dialog.
func TestRealPageThatAsks(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	p := w.somebody()
	f := w.webForm(`<p><button onclick="confirm('Delete the account for good?')">Proceed</button><button onclick="this.textContent = 'Saved'">Save</button>`)
	f.inBackground(t, p)
	f.ok("ax_click", f.on("button Proceed"))
	a := f.ok("ax_click", f.on("button Save"))
	f.says(a.Warning, "nothing was seen to change", `says" [e`, "is open", "until it is answered")
	f.done("ax_click", f.on("button Cancel"))
	a = f.ok("ax_click", f.on("button Save"))
	assert.Check(t, !strings.Contains(a.Warning, "answered"), "%q", a.Warning)
	w.awaitElement(f.app, "button Saved")
}
