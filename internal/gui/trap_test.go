package gui_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/fakedesktop"
)

// TestFormsThatChangeUnderTheCall: elements that the first half of a call creates are judged before
// its second half acts on them.
func TestFormsThatChangeUnderTheCall(t *testing.T) {
	for name, c := range map[string]struct {
		window func(form *fakedesktop.Element, lose func())
		tool   string
		args   string
	}{
		"a button that typing enables, by return": {func(form *fakedesktop.Element, lose func()) {
			b := form.Button("Delete this repository", lose)
			b.RemoveState(desktop.Enabled)
			form.Textbox("Confirm").OnChange(func() { b.AddState(desktop.Enabled) })
		}, "ax_type", `"query": "Confirm", "text": "x", "submit": true`},
		"the same, by a line": {func(form *fakedesktop.Element, lose func()) {
			b := form.Button("Delete this repository", lose)
			b.RemoveState(desktop.Enabled)
			form.Textbox("Confirm").OnChange(func() { b.AddState(desktop.Enabled) })
		}, "ax_type", `"query": "Confirm", "text": "x\n"`},
		"a button that a line makes": {func(form *fakedesktop.Element, lose func()) {
			form.Textbox("Confirm").OnChange(func() { form.Button("Delete this repository", lose) })
		}, "ax_type", `"query": "Confirm", "text": "x\n"`},
		"a button that the second line makes": {func(form *fakedesktop.Element, lose func()) {
			confirm := form.Textbox("Confirm")
			confirm.OnChange(func() {
				if confirm.Value() == "xy" {
					form.Button("Delete this repository", lose)
				}
			})
		}, "ax_type", `"query": "Confirm", "text": "x\ny\n"`},
		"the same, filled in": {func(form *fakedesktop.Element, lose func()) {
			b := form.Button("Delete this repository", lose)
			b.RemoveState(desktop.Enabled)
			form.Textbox("Confirm").OnChange(func() { b.AddState(desktop.Enabled) })
		}, "ax_fill", `"fields": [{"query": "Confirm", "value": "x"}], "submit": "return"`},
		"a button that typing makes, by return": {func(form *fakedesktop.Element, lose func()) {
			form.Textbox("Confirm").OnChange(func() { form.Button("Delete this repository", lose) })
		}, "ax_type", `"query": "Confirm", "text": "x", "submit": true`},
		"the same made, filled in": {func(form *fakedesktop.Element, lose func()) {
			form.Textbox("Confirm").OnChange(func() { form.Button("Delete this repository", lose) })
		}, "ax_fill", `"fields": [{"query": "Confirm", "value": "x"}], "submit": "return"`},
		"a button that gets another description": {func(form *fakedesktop.Element, lose func()) {
			b := form.Button("OK", lose)
			form.Textbox("Confirm").OnChange(func() { b.Describe("Delete this repository", "") })
		}, "ax_fill", `"fields": [{"query": "Confirm", "value": "x"}], "submit": "OK"`},
		"a button whose group gets another name": {func(form *fakedesktop.Element, lose func()) {
			g := form.Group("Save the repository")
			g.Button("OK", lose)
			form.Textbox("Confirm").OnChange(func() { g.Rename("Delete the repository") })
		}, "ax_fill", `"fields": [{"query": "Confirm", "value": "x"}], "submit": "OK"`},
		"an option that a field before makes": {func(form *fakedesktop.Element, lose func()) {
			var what *fakedesktop.Element
			form.Textbox("Confirm").OnChange(func() {
				what.Add(desktop.Element{Role: desktop.Option, Name: "Delete it", Actions: []string{"click"}, States: desktop.Selectable})
				what.OnChange(lose)
			})
			what = form.Choice("What", "Keep it")
		}, "ax_fill", `"fields": [{"query": "Confirm", "value": "x"}, {"query": "What", "value": "Delete it"}]`},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				lost := 0
				window := w.d.Program("Site").Window("Site")
				window.OnKey(func(k desktop.Chord) {
					if k.Key == "return" || k.Key == "\n" {
						lost++
					}
				})
				c.window(window.Add(desktop.Element{Role: desktop.Form}), func() { lost++ })
				w.gateway.Gates = []aai.Gate{losses{w.record}}
				w.ok("ax_get_tree", `{"app": "Site"}`)
				result, err := w.do(c.tool, `{"app": "Site", `+c.args+`}`)
				assert.Check(w, is.Equal(lost, 0), "it was lost, and nobody was asked: %+v, %v", result, err)
				if result != nil && name != "an option that a field before makes" {
					w.Errorf("it went on: %s", result.Text)
				}
			})
		})
	}
}
