package gui_test

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestFindTellsTheRow: the reply contains the row's texts, interactive ones with their ref, but no
// protected text and no other row.
func TestFindTellsTheRow(t *testing.T) {
	inWorld(t, func(w *world) {
		window := w.d.Program("Mail").Window("Mail")
		all := window.Group("")
		pressed := ""
		for n := range 50 {
			who := fmt.Sprintf("Ann %d", n)
			row := all.Group("")
			row.Text("from " + who)
			row.Text(strings.Repeat("long ", 60))
			row.Password("").SetText("s3cret")
			row.Button("Delete", func() { pressed = who })
		}
		window.Button("Quit", nil)
		a := w.ok("ax_find", `{"app": "Mail", "query": "from Ann 3"}`)
		w.has(a.Text, `; its row: "long long`, `…", button "Delete" [e`)
		for _, other := range []string{"s3cret", "Ann 2", "Ann 4"} {
			w.hasNot(a.Text, other)
		}
		assert.Check(t, len(a.Text)/4 <= 60, "it is about %d tokens: %s", len(a.Text)/4, a.Text)
		row, _ := a.data["row"].(string)
		_, ref, _ := strings.Cut(row, "[")
		w.ok("ax_click", fmt.Sprintf(`{"app": "Mail", "query": %q}`, strings.TrimSuffix(ref, "]")))
		assert.Check(t, is.Equal(pressed, "Ann 3"), ref)
		a = w.ok("ax_find", `{"app": "Mail", "query": "Quit"}`)
		assert.Check(t, !strings.Contains(a.Text, "its row"), a.Text)
	})
}

// TestFindOutOfView: an element scrolled out of view is found and marked; one hidden by a dialog, a
// closed menu or window is not found.
func TestFindOutOfView(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		f.Main.Button("Far away", nil).Hide()
		a := w.ok("ax_find", `{"app": "Form", "query": "Far away"}`)
		w.has(a.Text, `button "Far away" [e`, "out of view")
		for _, query := range []string{"(//button)[last()]", "Far"} {
			w.want(w.ok("ax_find", fmt.Sprintf(`{"app": "Form", "query": %q}`, query)), "Far away", "title")
		}
		f.Dialog("Preferences").Button("Close", nil)
		w.fails(aai.ElementNotFound, "ax_find", `{"app": "Form", "query": "Far away"}`)
	})
}
