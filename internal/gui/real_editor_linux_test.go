package gui_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestRealEditor: in a page's editor, with one element per line and no-break spaces for double
// ones, a multiline text is set and read unchanged.
func TestRealEditor(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<p><div contenteditable role="textbox" aria-multiline="true" aria-label="Note" oninput="edit.value = innerText">old</div><input type="hidden" id="edit">
		<div contenteditable role="textbox" aria-multiline="true" aria-label="Letter"><p>One <b>bold</b> and <a href="#">linked</a> word</p><p>Two</p>three<br>four</div>`)
	for _, text := range []string{"one\ntwo", "two  spaces", "first\n\nlast", "\nsecond", "one"} {
		f.done("ax_set_value", f.set("textbox Note", text))
		f.says(f.ok("ax_set_value", f.set("textbox Note", text)).Text, "has this value already")
		if text == "one\ntwo" {
			f.comes("edit", text)
		}
	}
	f.done("ax_type", params{"app": f.app, "query": "textbox Note", "text": "\nmore\nlines"})
	for query, want := range map[string]string{"textbox Note": "one\nmore\nlines", "textbox Letter": "One bold and linked word\nTwo\nthree\nfour"} {
		assert.Check(t, is.Equal(f.ok("ax_get_value", f.on(query)).data["value"], want), query)
	}
}
