package gui_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// TestWhatIsBehindAModalDialogIsNotMeant: nor an element in a dialog behind it, such as a form in a
// designer.
func TestWhatIsBehindAModalDialogIsNotMeant(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.d.Program("Designer")
		form := p.Window("Designer").Add(desktop.Element{Role: desktop.Dialog, Name: "Form"})
		form.Button("Cancel", nil)
		cancelled := false
		dialog := p.Dialog("Preferences")
		dialog.Button("Cancel", func() { cancelled = true; dialog.Close() })
		w.ok("ax_click", `{"app": "Designer", "query": "Cancel"}`)
		assert.Check(w, cancelled, "another Cancel was pressed than that of the dialog in front")
	})
}

// TestHowToComeToWhatIsNotShowing: the hint names the obstacle in front, or the closed container,
// if there is one.
func TestHowToComeToWhatIsNotShowing(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		shut := f.Window("Shut")
		shut.Button("In another window", nil)
		shut.Hide()
		rare := f.Main.Button("Rare", nil)
		rare.Hide()
		said := func(query string) string {
			w.Helper()
			e := w.failure(aai.ElementNotFound, "ax_click", `{"app": "Form", "query": "`+query+`"}`)
			w.has(e.Message, "is there, but not showing")
			return e.Hint
		}
		w.has(said("On second"), `tabpanel "Second"`, "Open that first")
		w.has(said("In another window"), `window "Shut"`, "not on the screen")
		hint := said("Rare")
		assert.Assert(w, !strings.Contains(hint, "dialog"), "no dialog and no tab has it: %q", hint)
		assert.Assert(w, !strings.Contains(hint, "tab "), "no dialog and no tab has it: %q", hint)
		dialog := f.Dialog("Preferences")
		dialog.Button("Close", func() { dialog.Close() })
		for _, query := range []string{"On second", "Rare"} {
			w.has(said(query), `dialog "Preferences" [e`, "Answer or close that first")
		}
		text := w.ok("ax_find", `{"app": "Form", "query": "Quit-not"}`).Text
		assert.Check(w, !strings.Contains(text, "ax_click"), "a click is offered behind a dialog: %s", text)
		e := w.failure(aai.AutomationFailed, "ax_click", `{"app": "Form", "query": "Press"}`)
		w.has(e.Message, `behind the modal dialog "Preferences"`)
		w.has(e.Hint, "close that dialog")
		w.ok("ax_click", `{"app": "Form", "query": "button Close"}`)
		w.has(w.ok("ax_find", `{"app": "Form", "query": "Quit-not"}`).Text, "closed menu: ax_click")
	})
}

// TestMenusThatAreMadeWhenTheyOpen: if nothing has the name, the hint names the menus without known
// items, and no other menus.
func TestMenusThatAreMadeWhenTheyOpen(t *testing.T) {
	inWorld(t, func(w *world) {
		window := w.d.Program("Files").Window("Home")
		bar := window.Add(desktop.Element{Role: desktop.Menubar})
		bar.Menu("File", func(string) {}, "Open")
		bar.Menu("Help", func(string) {})
		bar.Menu("", func(string) {})
		bar.Menu("Off", func(string) {}).RemoveState(desktop.Enabled)
		for _, tool := range []string{"ax_click", "ax_find"} {
			e := w.failure(aai.ElementNotFound, tool, `{"app": "Files", "query": "Telescope"}`)
			w.has(e.Hint, `menu "Help" [e`, `by ax_click with mode "focus"`)
			assert.Assert(w, !strings.Contains(e.Hint, "File"), "%s %q", tool, e.Hint)
			assert.Assert(w, !strings.Contains(e.Hint, `""`), "%s %q", tool, e.Hint)
			assert.Assert(w, !strings.Contains(e.Hint, "Off"), "%s %q", tool, e.Hint)
		}
	})
}
