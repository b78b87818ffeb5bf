package gui_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// TestALabelStandsForTheFieldAroundIt: a text for a label goes into the field whose whole text the label is, as in the
// tables of GTK 4, and not into a field that has more text.
func TestALabelStandsForTheFieldAroundIt(t *testing.T) {
	for text, replaced := range map[string]bool{"two": true, "one two": false} {
		t.Run(text, func(t *testing.T) {
			inWorld(t, func(w *world) {
				win := w.d.Program("Office").Window("Office")
				field := win.Add(desktop.Element{Role: desktop.Textbox, Value: text, States: desktop.Enabled | desktop.Editable | desktop.Focusable})
				field.Add(desktop.Element{Role: desktop.Label, Name: "two", States: desktop.Enabled})
				_, err := w.do("ax_set_value", `{"app": "Office", "query": "two", "value": "x"}`)
				if is := field.Value() == "x"; is != replaced {
					t.Errorf("the field has the value %q (%v)", field.Value(), err)
				}
			})
		})
	}
}

// TestALabelStandsForTheFieldOutOfView: a text for a label in view is for the only field with this name out of view.
func TestALabelStandsForTheFieldOutOfView(t *testing.T) {
	for fields, want := range map[int]string{1: `textbox "Kind"`, 2: `label "Kind"`} {
		inWorld(t, func(w *world) {
			win := w.d.Program("Office").Window("Office")
			win.Add(desktop.Element{Role: desktop.Label, Name: "Kind", States: desktop.Enabled})
			for range fields {
				win.Add(desktop.Element{Role: desktop.Textbox, Name: "Kind", States: desktop.Enabled | desktop.Editable | desktop.Placed | desktop.Offscreen}).Hide()
			}
			_, err := w.do("ax_set_value", `{"app": "Office", "query": "Kind", "value": "x"}`)
			if err == nil || !strings.Contains(err.Message, want) {
				t.Errorf("%d fields: the error is %v, want one about the %s", fields, err, want)
			}
		})
	}
}

// TestAnItemTakesNoValue: a value for an item of a list is refused, and not typed into the list.
func TestAnItemTakesNoValue(t *testing.T) {
	inWorld(t, func(w *world) {
		list := w.d.Program("Office").Window("Office").Add(desktop.Element{Role: desktop.Listbox, Name: "Kinds", States: desktop.Enabled | desktop.Focusable})
		list.Add(desktop.Element{Role: desktop.Option, Name: "Draft", States: desktop.Enabled | desktop.Focusable | desktop.Selectable})
		w.fails(aai.InvalidParams, "ax_set_value", `{"app": "Office", "query": "Draft", "value": "x"}`)
	})
}

// TestKeysPassNoListOrFilledField: a check box without an action is not reached by keys that pass a list or a field with a
// text, and is over an empty field.
func TestKeysPassNoListOrFilledField(t *testing.T) {
	for name, c := range map[string]struct {
		between desktop.Element
		reached bool
	}{
		"an empty field":  {desktop.Element{Role: desktop.Textbox, Name: "Zone", States: desktop.Enabled | desktop.Editable | desktop.Focusable}, true},
		"a filled field":  {desktop.Element{Role: desktop.Textbox, Name: "Zone", Value: "draft", States: desktop.Enabled | desktop.Editable | desktop.Focusable}, false},
		"a spin button":   {desktop.Element{Role: desktop.Spinbutton, Name: "Zone", States: desktop.Enabled | desktop.Editable | desktop.Focusable}, false},
		"a password":      {desktop.Element{Role: desktop.Textbox, Name: "Zone", States: desktop.Enabled | desktop.Editable | desktop.Focusable | desktop.Protected}, false},
		"a list of items": {desktop.Element{Role: desktop.Listbox, Name: "Zone", States: desktop.Enabled | desktop.Focusable}, false},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				win := w.d.Program("Office").Window("Office")
				win.Add(desktop.Element{Role: desktop.Slider, Name: "First", States: desktop.Enabled | desktop.Focusable | desktop.Focused})
				between := win.Add(c.between)
				if c.between.Role == desktop.Listbox {
					between.Add(desktop.Element{Role: desktop.Option, Name: "Draft", States: desktop.Enabled | desktop.Focusable | desktop.Selectable})
				}
				win.Add(desktop.Element{Role: desktop.Checkbox, Name: "Box", States: desktop.Enabled | desktop.Focusable | desktop.Checkable})
				_, err := w.do("ax_click", `{"app": "Office", "query": "Box"}`)
				assert.Check(t, (err != nil && strings.Contains(err.Message, "the keyboard would pass")) != c.reached, "the answer is %v", err)
			})
		})
	}
}
