package gui_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

func TestType(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		a := w.ok("ax_type", `{"app": "Form", "query": "Full name", "text": "Grüße, 日本 €🙂"}`)
		w.want(a, true, "verified")
		w.want(a, "its editable text", "way")
		w.has(a.Text, `Typed into textbox "Full name" [`)
		w.ok("ax_type", `{"app": "Form", "query": "Full name", "text": "!"}`)
		got := f.State()["name"]
		assert.Check(w, is.Equal(got, "Grüße, 日本 €🙂!"), "it holds %q", got)
		w.ok("ax_type", `{"app": "Form", "query": "Full name", "text": "Ann", "clear_first": true}`)
		w.ok("ax_type", `{"app": "Form", "query": "Notes", "text": "one\ntwo\n"}`)
		w.ok("ax_type", `{"app": "Form", "query": "Full name", "text": "", "clear_first": true}`)
		s := f.State()
		assert.Check(w, is.Equal(s["name"], ""), s)
		assert.Check(w, is.Equal(s["notes"], "one\ntwo\n"), s)
	})
}

func TestTypeIntoTheFocused(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		e := w.failure(aai.ElementNotFound, "ax_type", `{"app": "Form", "text": "x"}`)
		w.has(e.Hint, "query")
		w.ok("ax_click", `{"app": "Form", "query": "Notes"}`)
		w.has(w.ok("ax_type", `{"app": "Form", "text": "x"}`).Text, `"Notes"`)
		got := f.State()["notes"]
		assert.Check(w, is.Equal(got, "x"), "it holds %q", got)
	})
}

// TestTypeIntoTheOnlyField: text without a query goes to the only field of a program without focus,
// unless that is for a password.
func TestTypeIntoTheOnlyField(t *testing.T) {
	inWorld(t, func(w *world) {
		w.d.Program("Note").Window("One").Textbox("Note")
		w.has(w.ok("ax_type", `{"app": "Note", "text": "x"}`).Text, `"Note"`)
		w.want(w.ok("ax_get_value", `{"app": "Note", "query": "Note"}`), "x", "value")
		w.d.Program("Login").Window("One").Password("Secret")
		w.fails(aai.ElementNotFound, "ax_type", `{"app": "Login", "text": "y"}`)
		browser := w.d.Program("Browser").Window("One")
		address := browser.Textbox("Address")
		browser.Add(desktop.Element{Role: desktop.Document, Name: "Page"}).Button("Press", nil)
		w.fails(aai.ElementNotFound, "ax_type", `{"app": "Browser", "text": "z"}`)
		assert.Check(w, is.Equal(address.Value(), ""), "the address bar holds %q", address.Value())
	})
}

// TestTypedTextIsSecret: typed text is in no journal entry.
func TestTypedTextIsSecret(t *testing.T) {
	inWorld(t, func(w *world) {
		form(w)
		const secret = "correct horse battery"
		for _, call := range [][2]string{
			{"ax_type", `{"app": "Form", "query": "Full name", "text": %q}`},
			{"ax_type", `{"app": "Form", "query": "Nowhere", "text": %q}`},
			{"ax_set_value", `{"app": "Form", "query": "Full name", "value": %q}`},
			{"ax_set_value", `{"app": "Form", "query": "Volume", "value": %q}`},
			{"ax_set_value", `{"app": "Form", "query": "Colour", "value": %q}`},
			{"ax_clipboard", `{"action": "write", "text": %q}`},
		} {
			_, _ = w.do(call[0], fmt.Sprintf(call[1], secret))
		}
		assert.Check(w, !strings.Contains(w.record.text(), secret), "the journal has the text: %s", w.record.text())
	})
}

// TestPassword: a password can be typed, and the field's value is in no reply of any tool.
func TestPassword(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		a := w.ok("ax_type", `{"app": "Form", "query": "Password", "text": "s3cr3t-Wort"}`)
		w.want(a, false, "verified")
		w.has(a.Warning, "cannot be read back")
		got := f.State()["password"]
		assert.Check(w, is.Equal(got, "s3cr3t-Wort"), "it holds %q", got)
		w.ok("ax_set_value", `{"app": "Form", "query": "Password", "value": "s3cr3t-Wort2"}`)
		for _, call := range everyCall() {
			result, err := w.do(call.tool, call.args)
			raw, _ := json.Marshal([]any{result, err})
			assert.Check(w, !strings.Contains(string(raw), "s3cr3t"), "%s %s answers %s", call.tool, call.args, raw)
		}
		w.want(w.ok("ax_get_value", `{"app": "Form", "query": "Password"}`), "****", "value")
		w.want(w.ok("ax_find", `{"app": "Form", "query": "Password"}`), "****", "value")
	})
}

// TestTypeByKeyboard: without editable text, the gateway's own keyboard types, and the person's
// focus stays.
func TestTypeByKeyboard(t *testing.T) {
	inWorldWithout(t, func(b *desktop.Backend) { b.Actor = noText{b.Actor} }, func(w *world) {
		f := form(w)
		w.d.Program("Other").Window("Person")
		for _, text := range []string{"Ann", "Bob"} {
			a := w.ok("ax_type", fmt.Sprintf(`{"app": "Form", "query": "Full name", "text": %q, "clear_first": true}`, text))
			w.want(a, true, "verified")
			w.has(a.Text, "second pointer and keyboard, in the background")
			got := f.State()["name"]
			assert.Check(w, is.Equal(got, text), "it holds %q", got)
		}
		w.ok("ax_type", `{"app": "Form", "query": "Full name", "text": "", "clear_first": true}`)
		got := f.State()["name"]
		assert.Check(w, is.Equal(got, ""), "it holds %q", got)
		p := w.d.Person()
		assert.Check(w, is.Equal(p.FocusMoves+p.PointerMoves, 0), "the person noticed %+v", p)
		w.ok("ax_type", `{"app": "Form", "query": "Full name", "text": "Cy", "mode": "focus"}`)
		got = f.State()["name"]
		assert.Check(w, is.Equal(got, "Cy"), "it holds %q", got)
	})
}

// TestTypeThatDoesNotArrive: the reply contains the actual value.
func TestTypeThatDoesNotArrive(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		var box = f.Main.Textbox("Digits")
		box.OnChange(func() {
			if box.Value() == "abc" {
				box.SetText("123")
			}
		})
		e := w.failure(aai.AutomationFailed, "ax_type", `{"app": "Form", "query": "Digits", "text": "abc"}`)
		w.has(e.Message, `its value is now "123"`)
		assert.Check(w, is.Equal(e.Delivery, aai.Delivered))
		assert.Check(w, !strings.Contains(w.record.text(), "abc"), "the journal has the text")
	})
}

func TestTypeRefuses(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		f.Main.Textbox("Locked").RemoveState(desktop.Enabled)
		since := w.mutations()
		w.has(w.failure(aai.AutomationFailed, "ax_type", `{"app": "Form", "query": "Locked", "text": "x"}`).Message, "is disabled")
		w.nothingDone(since)
		for _, mode := range []string{"background", "focus"} {
			e := w.failure(aai.InvalidParams, "ax_type", fmt.Sprintf(`{"app": "Form", "query": "Press", "text": "x", "mode": %q}`, mode))
			assert.Check(w, is.Equal(e.Delivery, aai.NotDelivered))
			w.has(e.Message, `button "Press" [`, "takes no text")
		}
		assert.Check(w, is.Equal(f.State()["presses"], 0.0), "typing into a button pressed it")
	})
}

func TestSetValue(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		for _, c := range []struct {
			query, value, key string
			want              any
		}{
			{"Full name", "Ann", "name", "Ann"},
			{"Full name", "7", "name", "7"},
			{"Full name", "", "name", ""},
			{"Notes", "a\nb", "notes", "a\nb"},
			{"Volume", "55.5", "volume", 55.5},
			{"Volume", "0", "volume", 0.0}, {"Volume", "100", "volume", 100.0},
			{"Count", "7", "count", 7.0},
			{"Colour", "Blue", "colour", "Blue"},
			{"Colour", "green", "colour", "Green"},
			{"Fruits", "Fruit 5", "fruit", "Fruit 5"},
			{"Fruits", "Fruit 30", "fruit", "Fruit 30"},
			{"role:tablist", "Second", "tab", "Second"},
			{"Agree", "true", "agree", true},
			{"Agree", "false", "agree", false},
		} {
			a := w.ok("ax_set_value", fmt.Sprintf(`{"app": "Form", "query": %q, "value": %q}`, c.query, c.value))
			w.want(a, true, "verified")
			got := f.State()[c.key]
			assert.Check(w, is.Equal(got, c.want), "%s set to %q: the state is %v", c.query, c.value, got)
		}
		since := w.mutations()
		w.has(w.ok("ax_set_value", `{"app": "Form", "query": "Agree", "value": "false"}`).Text, "has this value already")
		w.nothingDone(since)
	})
}

// TestValuesOfOtherTypes checks that numbers and booleans count as their texts.
func TestValuesOfOtherTypes(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		w.ok("ax_set_value", `{"app": "Form", "query": "Volume", "value": 55.5}`)
		w.ok("ax_set_value", `{"app": "Form", "query": "Agree", "value": true}`)
		w.ok("ax_fill", `{"app": "Form", "fields": [{"query": "Count", "value": 7}, {"query": "Full name", "value": 1234567}]}`)
		for key, want := range map[string]any{"volume": 55.5, "agree": true, "count": 7.0, "name": "1234567"} {
			assert.Check(t, is.Equal(f.State()[key], want), key)
		}
		w.fails(aai.InvalidParams, "ax_set_value", `{"app": "Form", "query": "Volume", "value": [1]}`)
	})
}

func TestSetValueRefuses(t *testing.T) {
	inWorld(t, func(w *world) {
		form(w)
		since := w.mutations()
		w.has(w.failure(aai.InvalidParams, "ax_set_value", `{"app": "Form", "query": "Volume", "value": "loud"}`).Message, "number")
		w.has(w.failure(aai.InvalidParams, "ax_set_value", `{"app": "Form", "query": "Volume", "value": "101"}`).Message, "from 0 to 100")
		w.fails(aai.InvalidParams, "ax_set_value", `{"app": "Form", "query": "Volume", "value": "NaN"}`)
		w.fails(aai.InvalidParams, "ax_set_value", `{"app": "Form", "query": "Agree", "value": "perhaps"}`)
		e := w.failure(aai.ElementNotFound, "ax_set_value", `{"app": "Form", "query": "Colour", "value": "Mauve"}`)
		assert.Assert(w, is.Len(e.Candidates, 3))
		assert.Equal(w, e.Candidates[0], "Red")
		w.nothingDone(since)
		w.fails(aai.InvalidParams, "ax_set_value", `{"app": "Form", "query": "Press", "value": "x"}`)
	})
}

// TestSetValueThatDoesNotStick: a check box may refuse.
func TestSetValueThatDoesNotStick(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		box := f.Main.Checkbox("Stubborn")
		box.OnChange(func() { box.RemoveState(desktop.Checked) })
		slider := f.Main.Slider("Steps", 0, 10, 0)
		slider.OnChange(func() { slider.SetText("5") })
		w.has(w.failure(aai.AutomationFailed, "ax_set_value", `{"app": "Form", "query": "Stubborn", "value": "true"}`).Message, "it is not true")
		e := w.failure(aai.AutomationFailed, "ax_set_value", `{"app": "Form", "query": "Steps", "value": "3"}`)
		w.has(e.Message, "took 5 instead of 3", "its former value could not be set again: ")
		assert.Check(w, is.Equal(e.Delivery, aai.Delivered))
	})
}

func TestKeyPress(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		f.Main.OnKey(func(c desktop.Chord) {
			if c.Key == "s" && len(c.Modifiers) == 1 && c.Modifiers[0] == "ctrl" {
				f.Main.Text("Saved")
			}
		})
		for _, modifier := range []string{"ctrl", "cmd"} {
			a := w.ok("ax_key_press", fmt.Sprintf(`{"app": "Form", "key": "s", "modifiers": [%q]}`, modifier))
			w.has(a.Text, "Pressed ctrl+s", "Saved")
			w.want(a, true, "verified")
		}
		w.has(w.ok("ax_key_press", `{"app": "Form", "key": "f5"}`).Warning, "nothing was seen to change")
		e := w.failure(aai.InvalidParams, "ax_key_press", `{"app": "Form", "key": "retrun"}`)
		assert.Assert(w, len(e.Candidates) != 0, "candidates %q", e.Candidates)
		assert.Equal(w, e.Candidates[0], "return", "%q", e.Candidates)
		w.fails(aai.InvalidParams, "ax_key_press", `{"app": "Form", "key": "a", "modifiers": ["hyper"]}`)
		w.ok("ax_click", `{"app": "Form", "query": "Full name"}`)
		w.ok("ax_key_press", `{"app": "Form", "key": "ä"}`)
		got := f.State()["name"]
		assert.Check(w, is.Equal(got, "ä"), "it holds %q", got)
		f.Program.Window("Tip of the Day").Raise()
		w.has(w.ok("ax_key_press", `{"app": "Form", "key": "f5"}`).Text, `Pressed f5 in the window "Tip of the Day" by`)
	})
}

// TestKeyPressWithFocus: only a call for the person's keyboard gives it to the window.
func TestKeyPressWithFocus(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		w.d.Program("Other").Window("Person")
		w.ok("ax_key_press", `{"app": "Form", "key": "f5"}`)
		p := w.d.Person()
		assert.Check(w, is.Equal(p.FocusMoves, 0), "the person noticed %+v", p)
		w.ok("ax_key_press", `{"app": "Form", "key": "f6", "mode": "focus"}`)
		p = w.d.Person()
		assert.Check(w, is.Equal(p.FocusMoves, 1), "the person noticed %+v", p)
		keys := f.Main.Keys()
		assert.Assert(w, is.Len(keys, 2))
		assert.Equal(w, keys[0].Key, "f5")
		assert.Equal(w, keys[1].Key, "f6")
	})
}

// TestTypeSlowly: the call waits for a program that shows text late.
func TestTypeSlowly(t *testing.T) {
	inWorldWithout(t, func(b *desktop.Backend) { b.Actor = lateText{b.Actor, 1500 * time.Millisecond} }, func(w *world) {
		form(w)
		w.want(w.ok("ax_type", `{"app": "Form", "query": "Full name", "text": "Ann"}`), true, "verified")
	})
}

// TestKeysAreNotOnRecord: a key may be part of a password.
func TestKeysAreNotOnRecord(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		w.ok("ax_key_press", `{"app": "Form", "key": "ß"}`)
		keys := f.State()["keys"]
		assert.Check(t, slices.Contains(keys.([]any), any("ß")), "the keys that came are %v", keys)
		assert.Check(t, !strings.Contains(w.record.text(), "ß"), "the key is on record")
	})
}

// TestKeysForTheDesktop: window manager shortcuts are not sent in the background.
func TestKeysForTheDesktop(t *testing.T) {
	inWorld(t, func(w *world) {
		form(w)
		for _, chord := range []string{
			`"key": "tab", "modifiers": ["alt"]`, `"key": "F4", "modifiers": ["alt"]`, `"key": "l", "modifiers": ["meta"]`,
			`"key": "t", "modifiers": ["ctrl", "alt"]`, `"key": "print"`,
		} {
			e := w.failure(aai.AutomationNotSupported, "ax_key_press", `{"app": "Form", `+chord+`}`)
			assert.Check(t, is.Equal(e.Delivery, aai.NotDelivered), chord)
		}
		w.ok("ax_key_press", `{"app": "Form", "key": "f", "modifiers": ["alt"]}`)
	})
}

// TestKeysInOneWord: the error explains how to give modifiers, and repeats the caller's text.
func TestKeysInOneWord(t *testing.T) {
	inWorld(t, func(w *world) {
		form(w)
		since := w.mutations()
		for given, want := range map[string][2]string{
			`"key": "ctrl+s"`:                           {`"ctrl+s"`, `modifiers ["ctrl"] with the key "s"`},
			`"key": "Ctrl+Shift+F5"`:                    {`"Ctrl+Shift+F5"`, `modifiers ["ctrl", "shift"] with the key "F5"`},
			`"key": "cmd + q"`:                          {`"cmd + q"`, `modifiers ["ctrl"] with the key "q"`},
			`"key": "ctrl++"`:                           {`"ctrl++"`, `modifiers ["ctrl"] with the key "+"`},
			`"key": "option+s", "modifiers": ["shift"]`: {`"option+s"`, `modifiers ["shift", "alt"] with the key "s"`},
		} {
			e := w.failure(aai.InvalidParams, "ax_key_press", `{"app": "Form", `+given+`}`)
			w.has(e.Message, "expected one key", want[0])
			w.has(e.Hint, want[1])
			assert.Check(w, e.RetrySafe(), "%s: delivery %q", given, e.Delivery)
		}
		w.nothingDone(since)
		w.ok("ax_key_press", `{"app": "Form", "key": "+", "modifiers": ["ctrl"]}`)
		w.has(w.failure(aai.InvalidParams, "ax_key_press", `{"app": "Form", "key": "foo+s"}`).Message, "there is no key")
	})
}

// TestTypingNothing: with nothing to type, clear or submit, the call does nothing and reports that.
func TestTypingNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		form(w)
		since := w.mutations()
		a := w.ok("ax_type", `{"app": "Form", "query": "Full name", "text": ""}`)
		w.has(a.Text, "Nothing was typed", "the text is empty")
		w.want(a, false, "delivered")
		w.nothingDone(since)
	})
}
