package gui_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestAnAnswerToWhatStandsBeforeIt: a question may be a text in a window, and the sentence of a
// dialog may lack its full stop.
func TestAnAnswerToWhatStandsBeforeIt(t *testing.T) {
	for name, c := range map[string]struct {
		app, query string
		asked      bool
	}{
		"yes to a line": {"Line", "Yes", true}, "no to it": {"Line", "No", false}, "ok far from it": {"Line", "OK", false},
		"a dialog without fields": {"Bare", "Continue", true}, "its other answer": {"Bare", "Back", false}, "a dialog with fields": {"Form", "Confirm", false},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				window := w.d.Program("Line").Window("Line")
				window.Text("Delete this project?")
				window.Button("No", func() {})
				window.Button("Yes", func() {})
				window.Text("Nothing is lost.")
				window.Button("OK", func() {})
				bare := w.d.Program("Bare").Dialog("Bare")
				bare.Text("Delete cannot be undone")
				bare.Button("Continue", func() {})
				bare.Button("Back", func() {})
				form := w.d.Program("Form").Dialog("Form")
				form.Text("Delete key")
				form.Textbox("Which")
				form.Button("Confirm", func() {})
				w.gateway.Gates = []aai.Gate{losses{w.record}}
				_, err := w.do("ax_click", `{"app": "`+c.app+`", "query": "`+c.query+`"}`)
				assert.Check(w, is.Equal(err != nil && err.Code == aai.ConsentRequired, c.asked), err)
			})
		})
	}
}

// TestATextThatNobodyAnswers: if return has no effect, the warning is about the return and not
// about the text.
func TestATextThatNobodyAnswers(t *testing.T) {
	inWorld(t, func(w *world) {
		w.d.Program("Office").Window("Office").Textbox("Search").Focus()
		out, err := w.do("ax_type", `{"app": "Office", "query": "Search", "text": "hello", "submit": true}`)
		if err != nil || !strings.HasPrefix(out.Warning, "the text is there, but nothing was seen to change after the return yet") {
			t.Errorf("%+v, %v", out, err)
		}
	})
}
