package gui_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/risk"
)

// typingCalls are calls that enter a text into the element called Kind.
func typingCalls() map[string]string {
	return map[string]string{
		"ax_type":      `{"app": "Office", "query": "Kind", "text": "x"}`,
		"ax_set_value": `{"app": "Office", "query": "Kind", "value": "x"}`,
		"ax_fill":      `{"app": "Office", "fields": [{"query": "Kind", "value": "x"}]}`,
		"ax_key_press": `{"app": "Office", "query": "Kind", "key": "x"}`,
	}
}

// TestTheFieldInsideAComboBoxIsJudged: a text for an editable combo box is judged by the field that receives
// it, which may be a terminal or have a destructive name.
func TestTheFieldInsideAComboBoxIsJudged(t *testing.T) {
	for name, c := range map[string]struct {
		role       desktop.Role
		name       string
		run, risky bool
	}{
		"a text box":                     {desktop.Textbox, "", false, false},
		"a terminal":                     {desktop.Terminal, "", true, false},
		"the text box of a terminal":     {desktop.Textbox, "Terminal 1", true, false},
		"one with a destructive name":    {desktop.Textbox, "Delete account", false, true},
		"a search box called Terminal 2": {desktop.Searchbox, "Terminal 2", true, false},
	} {
		for tool, args := range typingCalls() {
			t.Run(name+" "+tool, func(t *testing.T) {
				inWorld(t, func(w *world) {
					w.gateway.Gates = []aai.Gate{admitAll{w.record}, risk.ShellMarker{}, losses{w.record}}
					win := w.d.Program("Office").Window("Office")
					box := win.Add(desktop.Element{Role: desktop.Combobox, Name: "Kind", States: desktop.Enabled})
					box.Add(desktop.Element{Role: c.role, Name: c.name, States: desktop.Enabled | desktop.Editable | desktop.Focusable})
					w.ok("ax_get_tree", `{"app": "Office"}`)
					_, err := w.do(tool, args)
					if asked := err != nil && err.Code == aai.ConsentRequired; asked != (c.risky && tool != "ax_key_press") { // a letter presses nothing
						t.Errorf("asked: %t, %v", asked, err)
					}
					got := w.record.lastRequest().Permission()
					assert.Check(t, is.Equal((got == aai.PermissionRun), c.run), "it needs the permission %s", got)
				})
			})
		}
	}
}

// TestAComboBoxTakesFreeText: a text for an editable combo box goes into the field inside it, also if an
// option has this name.
func TestAComboBoxTakesFreeText(t *testing.T) {
	for tool, args := range typingCalls() {
		if tool == "ax_key_press" {
			continue
		}
		t.Run(tool, func(t *testing.T) {
			inWorld(t, func(w *world) {
				win := w.d.Program("Office").Window("Office")
				box := win.Add(desktop.Element{Role: desktop.Combobox, Name: "Kind", States: desktop.Enabled | desktop.Expandable})
				box.Add(desktop.Element{Role: desktop.Option, Name: "x", States: desktop.Enabled | desktop.Selectable})
				field := box.Add(desktop.Element{Role: desktop.Textbox, States: desktop.Enabled | desktop.Editable | desktop.Focusable})
				w.ok(tool, args)
				got := field.Value()
				assert.Check(t, is.Equal(got, "x"), "the field has the value %q", got)
			})
		})
	}
}

// TestANameByPlaceHidesNothing: the gates read the identifier and the description of an element with a name
// by place, and a query finds it by both names.
func TestANameByPlaceHidesNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		w.gateway.Gates = []aai.Gate{admitAll{w.record}, risk.ShellMarker{}, losses{w.record}}
		win := w.d.Program("Office").Window("Office")
		placed := desktop.Element{Role: desktop.Textbox, Name: "Tips", States: desktop.Enabled | desktop.Editable | desktop.Placed}
		win.Add(placed).Describe("", "DeleteAll")
		placed.Name = "Notes"
		win.Add(placed).Describe("Terminal 1", "")
		w.ok("ax_get_tree", `{"app": "Office"}`)
		_ = w.failure(aai.ConsentRequired, "ax_set_value", `{"app": "Office", "query": "Tips", "value": "x"}`) // by its identifier
		for _, query := range []string{"Notes", "Terminal 1"} {
			_, _ = w.do("ax_type", `{"app": "Office", "query": "`+query+`", "text": "x"}`)
			got := w.record.lastRequest().Permission()
			assert.Check(t, is.Equal(got, aai.PermissionRun), "%s needs the permission %s", query, got)
		}
		assert.Check(t, is.Contains(w.ok("ax_find", `{"app": "Office", "query": "Tips"}`).Text, " placed"))
	})
}
