package gui_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestRealLongText: a text typed by keys arrives completely, however slow the page is; a text that
// is too long for that is rejected.
func TestRealLongText(t *testing.T) {
	for name, field := range map[string]string{
		"area":     `<textarea aria-label="Note"></textarea>`,
		"editable": `<div contenteditable role="textbox" aria-multiline="true" aria-label="Note" style="height: 200px; overflow: auto; white-space: pre-wrap"></div>`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newRealWorld(t)
			f := w.webForm(`<p>` + field)
			note := func(text string) params { return params{"app": f.app, "query": "textbox Note", "text": text} }
			text := strings.Repeat("All work and no play. ", 60)
			if a, e := f.do(f.Context(), "ax_type", note(text)); e != nil || at(asJSON(t, a.Data), "verified") != true {
				t.Errorf("%+v %+v", a, e)
			}
			_, e := f.do(f.Context(), "ax_type", note(strings.Repeat(text, 10)))
			assert.Assert(t, e != nil, "%+v", e)
			assert.Equal(t, e.Code, aai.InvalidParams, "%+v", e)
			assert.Equal(t, e.Delivery, aai.NotDelivered, "%+v", e)
			got := f.ok("ax_get_value", f.on("textbox Note")).data["value"]
			assert.Check(t, is.Equal(got, text), "it holds %q", got)
		})
	}
}
