package gui_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/fakedesktop"
)

// TestKeysGoToTheDialogBeforeAPage: a key goes to the dialog, whichever page element reports the
// focus in the background. Its target is judged and recorded.
func TestKeysGoToTheDialogBeforeAPage(t *testing.T) {
	type parts struct{ page, dialog, cancel, ok *fakedesktop.Element }
	nowhere := func(parts) {}
	proceed := func(p parts) { p.page.Button("Proceed", nil).Focus() }
	title := func(p parts) { p.page.Textbox("Title").Focus() }
	const returns, spaces = `"key": "return"`, `"key": "space"`
	for name, c := range map[string]struct {
		focus      func(parts)
		tool, args string
		asks, on   string // on: "" if there is no question
	}{
		"return, the page's button":   {proceed, "ax_key_press", returns, "Delete it for good?", `button "OK / Cancel / Proceed" in "Page"`},
		"space, the page's button":    {proceed, "ax_key_press", spaces, "Delete it for good?", `button "OK / Cancel / Proceed" in "Page"`},
		"return, the page":            {func(p parts) { p.page.Focus() }, "ax_key_press", returns, "Delete it for good?", `button "OK / Cancel" in "Page"`},
		"space, the page":             {func(p parts) { p.page.Focus() }, "ax_key_press", spaces, "Delete it for good?", `button "OK / Cancel" in "Page"`},
		"return, nobody knows where":  {nowhere, "ax_key_press", returns, "Delete it for good?", `button "OK / Cancel" in "Page"`},
		"space, nobody knows where":   {nowhere, "ax_key_press", spaces, "Delete it for good?", `button "OK / Cancel" in "Page"`},
		"return at what is named":     {proceed, "ax_key_press", returns + `, "query": "button Proceed"`, "Delete it for good?", `button "OK / Cancel / Proceed" in "Page"`},
		"return in the page's field":  {title, "ax_type", `"query": "Title", "text": "x\n"`, "Delete it for good?", `textbox "Title / OK / Cancel" in "Page"`},
		"words in the page's field":   {title, "ax_type", `"query": "Title", "text": "a b"`, "Delete it for good?", `textbox "Title / OK / Cancel" in "Page"`},
		"a word in the page's field":  {title, "ax_type", `"query": "Title", "text": "ab"`, "Delete it for good?", ""},
		"the dialog's own Cancel":     {func(p parts) { p.cancel.Focus() }, "ax_key_press", returns, "Delete it for good?", ""},
		"the dialog's own OK":         {func(p parts) { p.ok.Focus() }, "ax_key_press", spaces, "Delete it for good?", `button "OK" in "Page"`},
		"a question of another thing": {proceed, "ax_key_press", returns, "Keep it for good?", ""},
		"a button that deletes behind a question": {func(p parts) { p.page.Button("Delete", nil).Focus() }, "ax_key_press", returns, "Keep it for good?",
			`button "OK / Cancel / Delete" in "Page"`},
		"a dialog that is hidden": {func(p parts) { proceed(p); p.dialog.Hide() }, "ax_key_press", returns, "Delete it for good?", ""},
	} {
		for _, seen := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				inWorld(t, func(w *world) {
					window := w.d.Program("Browser").SetBrowser().Window("Page")
					p := parts{page: window.Add(desktop.Element{Role: desktop.Document, Name: "Page"})}
					p.dialog = window.Add(desktop.Element{Role: desktop.Dialog, Name: "example.org says"})
					p.dialog.Text(c.asks)
					p.cancel, p.ok = p.dialog.Button("Cancel", nil), p.dialog.Button("OK", nil).AddState(desktop.Default)
					c.focus(p)
					w.d.Program("Terminal").Window("Somebody's work")
					w.gateway.Gates = []aai.Gate{losses{w.record}}
					if seen {
						w.ok("ax_get_tree", `{"app": "Browser"}`)
					}
					since := w.mutations()
					_, err := w.do(c.tool, `{"app": "Browser", `+c.args+`}`)
					if asked := err != nil && err.Code == aai.ConsentRequired; asked != (c.on != "") {
						w.Errorf("seen before %t, asked %t: %v", seen, asked, err)
						return
					}
					if c.on == "" {
						return
					}
					w.nothingDone(since)
					if seen && err.Questions[0].Title != c.on || !seen && !strings.Contains(err.Message, c.on) {
						w.Errorf("seen before %t: asked about %v %v, want %s", seen, err.Questions, err, c.on)
					}
				})
			})
		}
	}
}

// TestTheRecordNamesTheDialogsAnswer: and not the page's focused element.
func TestTheRecordNamesTheDialogsAnswer(t *testing.T) {
	inWorld(t, func(w *world) {
		window := w.d.Program("Browser").SetBrowser().Window("Page")
		window.Add(desktop.Element{Role: desktop.Document, Name: "Page"}).Focus()
		dialog := window.Add(desktop.Element{Role: desktop.Dialog, Name: "example.org says"})
		dialog.Button("OK", nil).AddState(desktop.Default)
		w.d.Program("Terminal").Window("Somebody's work")
		w.ok("ax_key_press", `{"app": "Browser", "key": "space"}`)
		on := w.record.last(aai.Outcome).Element
		assert.Check(w, is.Equal(on.String(), `button "OK" in "Page"`), "%s %+v", on, on)
		assert.Check(w, !on.UnknownEffect, "on record is %s, %+v", on, on)
	})
}

// TestKeysGoToTheModalDialog: even if the window behind it is in front and reports its focus.
func TestKeysGoToTheModalDialog(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.d.Program("Office")
		window := p.Window("Office")
		window.Button("Proceed", nil).Focus()
		dialog := p.Dialog("Question")
		dialog.Text("Delete all data?")
		dialog.Button("Yes", nil).AddState(desktop.Default)
		window.Raise()
		w.d.Program("Terminal").Window("Somebody's work")
		w.gateway.Gates = []aai.Gate{losses{w.record}}
		w.ok("ax_get_tree", `{"app": "Office"}`)
		since := w.mutations()
		e := w.failure(aai.ConsentRequired, "ax_key_press", `{"app": "Office", "key": "return"}`)
		w.nothingDone(since)
		on := e.Questions[0].Title
		assert.Check(w, is.Equal(on, `button "Yes / Proceed" in "Question"`), "asked about %s", on)
	})
}
