package gui_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestCandidatesAreToldApart: equal buttons are distinguished by the text in their rows, or by
// position. Protected texts are not used.
func TestCandidatesAreToldApart(t *testing.T) {
	inWorld(t, func(w *world) {
		window := w.d.Program("Mail").Window("Mail")
		for _, who := range []string{"Ann", "Bob"} {
			row := window.Group("")
			row.Text("from " + who)
			row.Password("").SetText("s3cret")
			row.Button("Delete", func() {})
		}
		e := w.failure(aai.AmbiguousTarget, "ax_click", `{"app": "Mail", "query": "Delete"}`)
		text := strings.Join(e.Candidates, "\n")
		w.has(text, `button "Delete" beside "from Ann"`, `button "Delete" beside "from Bob"`)
		w.hasNot(text, "s3cret")
		w.hasNot(text, "window") // the same for all of them
	})
	inWorld(t, func(w *world) {
		window := w.d.Program("Mail").Window("Mail")
		one, other := window.Button("Go", func() {}), window.Button("Go", func() {})
		e := w.failure(aai.AmbiguousTarget, "ax_click", `{"app": "Mail", "query": "Go"}`)
		assert.Assert(t, one.Frame() != other.Frame(), "they are in one place")
		text := strings.Join(e.Candidates, "\n")
		assert.Check(t, is.Equal(strings.Count(text, " at "), 2), text)
	})
}
