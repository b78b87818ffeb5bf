package gui_test

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestRealThousand: an item of a thousand is found and chosen with short replies, in view or not.
func TestRealThousand(t *testing.T) {
	t.Run("page", func(t *testing.T) {
		t.Parallel()
		w := newRealWorld(t)
		var options strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&options, "<option>Item %d</option>", i+1)
		}
		f := w.webForm(`<label>Choice <select id="choice">` + options.String() + `</select></label>`)
		a := f.done("ax_set_value", f.set("combobox Choice", "Item 777"))
		f.comes("choice", "Item 777")
		inFew(t, a.Text)
	})
	t.Run("Qt 6", func(t *testing.T) { // its rows cannot be clicked out of view
		t.Parallel()
		w := newRealWorld(t)
		f := w.Rows(t, linuxtest.Qt6, 1000)
		app := w.process(f.App)
		a := w.done("ax_set_value", params{"app": app, "query": "role:listbox", "value": "Row 777"})
		f.WaitState(t, "row", "Row 777")
		inFew(t, a.Text)
	})
	t.Run("GTK 3", func(t *testing.T) {
		t.Parallel()
		w := newRealWorld(t)
		f := w.Rows(t, linuxtest.GTK3, 1000)
		app := w.process(f.App)
		found := w.ok("ax_find", params{"app": app, "query": `"Row 777"`})
		a := w.done("ax_click", params{"app": app, "query": found.data["element_ref"]})
		f.WaitState(t, "row", "Row 777")
		inFew(t, found.Text, a.Text)
	})
}

// inFew checks that the replies have few tokens, at four characters each.
func inFew(t *testing.T, answers ...string) {
	t.Helper()
	const most = 120
	got := len(strings.Join(answers, "")) / 4
	assert.Check(t, got <= most, "about %d tokens, expected at most %d: %q", got, most, answers)
}
