package gui_test

import (
	"strings"
	"testing"

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
			if e == nil || e.Code != aai.InvalidParams || e.Delivery != aai.NotDelivered {
				t.Errorf("%+v", e)
			}
			if got := f.ok("ax_get_value", f.on("textbox Note")).data["value"]; got != text {
				t.Errorf("it holds %q", got)
			}
		})
	}
}
