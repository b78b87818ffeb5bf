package gui_test

import (
	"fmt"
	"os"
	"path/filepath"
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
	f := pageOf(t, `<p><button onclick="alert('Boo')">Warn</button><button onclick="this.textContent='Done'">Other</button>`)
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
	f := pageOf(t, `<p><button>Dead</button> <button onclick="this.textContent = 'Done'">Works</button>
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
	w := parallelWorld(t)
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

// TestRealAlertGTK4: the buttons of GTK 4's dialogs, which report their name twice, are pressed by
// name.
func TestRealAlertGTK4(t *testing.T) {
	w := parallelWorld(t)
	app := w.python("alert.py", "button Ask")
	for button, answer := range map[string]string{"Discard": "answer 2", "role:button title:Cancel": "answer 1", "Save": "answer 3"} {
		w.ok("ax_click", params{"app": app, "query": "Ask"})
		w.awaitElement(app, "button Discard")
		w.ok("ax_click", params{"app": app, "query": button})
		w.awaitElement(app, answer)
	}
}

// TestRealModalOfAPage: elements behind a page's own modal dialog are absent while it is open. The
// error names the dialog, and so does the click that opened it.
func TestRealModalOfAPage(t *testing.T) {
	f := pageOf(t, `<button onclick="ask.showModal()">Open</button><button>Shout</button>
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

// asking is a page that asks for permissions.
const asking = `<button onclick="navigator.geolocation.getCurrentPosition(() => { out.value = 'granted' }, () => { out.value = 'refused' })">Where</button>
	<button onclick="note.value = 'Ada'">Write</button> <label>Note <input id="note"></label><label>Out <input id="out"></label>`

// TestPermissionsAreForThePerson: a browser's prompt can be read, and no action reaches it, while
// the page can be operated.
func TestPermissionsAreForThePerson(t *testing.T) {
	for name, open := range map[string]func(*realWorld) *webForm{
		"chromium": func(w *realWorld) *webForm { return w.webFormIn(asking, "") },
		"firefox":  func(w *realWorld) *webForm { return w.firefoxForm(asking, "button Ready") },
	} {
		t.Run(name, func(t *testing.T) {
			w := parallelWorld(t)
			f := open(w)
			w.ok("ax_click", f.on("button Where"))
			allow := "button Allow while visiting the site"
			if name == "firefox" {
				allow = "button Allow"
			}
			w.awaitElement(f.app, allow)
			x, y := w.inside(f.app, allow)
			for tool, p := range map[string]params{
				"ax_click": {"query": allow}, "ax_click_at": {"x": x, "y": y}, "ax_key_press": {"key": "escape"},
				"ax_drag": {"from_x": x, "from_y": y, "to_x": x + 9, "to_y": y},
			} {
				p["app"] = f.app
				err := w.refused(aai.PermissionDenied, tool, p)
				assert.Check(t, is.Contains(err.Message, "for the person"), "%s %v", tool, err)
			}
			w.ok("ax_click", f.on("button Write"))
			f.comes("note", "Ada")
			got := f.holds("out")
			assert.Check(t, is.Equal(got, ""), "the question was answered: %s", got)
		})
	}
}

// TestPortalsAskThePerson: of a portal's windows the choosers can be operated; the others can only
// be read.
func TestPortalsAskThePerson(t *testing.T) {
	w := newRealWorld(t)
	portal := filepath.Join(w.Home, "xdg-desktop-portal-gtk") // the same windows, in a program with that name
	program, err := os.ReadFile("/usr/bin/zenity")
	assert.NilError(t, err)
	assert.NilError(t, os.WriteFile(portal, program, 0o700))
	question := w.process(w.Launch(t, portal, "--question", "--text", "Share your screen?"))
	w.awaitElement(question, "button Yes")
	w.ok("ax_get_tree", params{"app": question})
	x, y := w.inside(question, "button Yes")
	for tool, p := range map[string]params{
		"ax_click": {"query": "button Yes"}, "ax_key_press": {"key": "return"}, "ax_click_at": {"x": x, "y": y},
		"ax_window": {"action": "close"},
	} {
		p["app"] = question
		err := w.refused(aai.PermissionDenied, tool, p)
		assert.Check(t, is.Contains(err.Message, "for the person"), "%s %v", tool, err)
	}
	for _, kind := range []string{"--file-selection", "--color-selection"} {
		chooser := w.process(w.Launch(t, portal, kind))
		w.awaitElement(chooser, "button Cancel")
		w.ok("ax_click", params{"app": chooser, "query": "button Cancel"})
	}
}

// inside returns a point within the element.
func (w *realWorld) inside(app, query string) (x, y float64) {
	w.Helper()
	data := w.ok("ax_get_attributes", params{"app": app, "query": query}).data
	x, _ = at(data, "frame", "x").(float64)
	y, _ = at(data, "frame", "y").(float64)
	return x + 8, y + 8
}
