package gui_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestRealLastLineEnd: a page's text with a final line end is set, filled in and read unchanged.
func TestRealLastLineEnd(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<label>Plain <textarea id="plain"></textarea></label>`)
	for _, text := range []string{"a\nb\n", "x\n", "q\n\n", "\n", "a\n\nb", "z"} {
		f.done("ax_set_value", f.set("textbox Plain", text))
		f.comes("plain", text)
		got := f.ok("ax_get_value", f.on("textbox Plain")).data["value"]
		assert.Check(t, is.Equal(got, text), "%q is read as %q", text, got)
	}
	f.says(f.ok("ax_fill", params{"app": f.app, "fields": fields("textbox Plain", "one\ntwo\n")}).Text, "Filled 1 of 1")
	f.comes("plain", "one\ntwo\n")
}
