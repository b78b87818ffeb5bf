package gui_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/risk"
	"github.com/gybob/aai-gateway/internal/testkit/fakedesktop"
)

// TestAnAnswerToWhatStandsBeforeIt: a question may be a text in a window, and the sentence of a
// dialog may lack its full stop.
func TestAnAnswerToWhatStandsBeforeIt(t *testing.T) {
	for name, c := range map[string]struct {
		app, query string
		asked      bool
	}{
		"yes to a line": {"Line", "Yes", true}, "no to it": {"Line", "No", false}, "ok far from it": {"Line", "OK", false},
		"a dialog without fields": {"Bare", "Continue", true}, "its other answer": {"Bare", "Back", false}, "a dialog with fields": {"Form", "Confirm", false},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				window := w.d.Program("Line").Window("Line")
				window.Text("Delete this project?")
				window.Button("No", func() {})
				window.Button("Yes", func() {})
				window.Text("Nothing is lost.")
				window.Button("OK", func() {})
				bare := w.d.Program("Bare").Dialog("Bare")
				bare.Text("Delete cannot be undone")
				bare.Button("Continue", func() {})
				bare.Button("Back", func() {})
				form := w.d.Program("Form").Dialog("Form")
				form.Text("Delete key")
				form.Textbox("Which")
				form.Button("Confirm", func() {})
				w.gateway.Gates = []aai.Gate{losses{w.record}}
				_, err := w.do("ax_click", `{"app": "`+c.app+`", "query": "`+c.query+`"}`)
				assert.Check(w, is.Equal(err != nil && err.Code == aai.ConsentRequired, c.asked), err)
			})
		})
	}
}

// TestATextThatNobodyAnswers: if return has no effect, the warning is about the return and not
// about the text.
func TestATextThatNobodyAnswers(t *testing.T) {
	inWorld(t, func(w *world) {
		w.d.Program("Office").Window("Office").Textbox("Search").Focus()
		out, err := w.do("ax_type", `{"app": "Office", "query": "Search", "text": "hello", "submit": true}`)
		if err != nil || !strings.HasPrefix(out.Warning, "the text is there, but nothing was seen to change after the return yet") {
			t.Errorf("%+v, %v", out, err)
		}
	})
}

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

// TestWords: the target contains the texts that people read there, however the caller names it. For
// a program that the caller has not seen, it contains only the caller's words.
func TestWords(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.d.Program("Office")
		window := p.Window("Office")
		bin := window.Button("Delete everything", func() {})
		window.Button("Save", func() {})
		words := func(query string) string {
			call := &aai.Call{Caller: w.caller, App: aai.DesktopApp, Tool: "ax_click", Args: map[string]any{"app": "Office", "query": query}}
			target, err := w.app.Operator.FindTarget(w.Context(), call, "Office")
			assert.NilError(t, err)
			call.Target = target
			return w.app.Operator.ResolveTarget(w.Context(), call).AllText
		}
		got := words("Del")
		assert.Check(t, is.Equal(got, "Del"), "before anything was seen: %q", got)
		ref := w.ref("Office", "Delete everything")
		for query, want := range map[string]string{
			ref: "Delete everything", "Delete": "Delete everything Delete", "Save": "Save Save", "//button[1]": "Delete everything //button[1]",
			"nothing": "nothing", "e999": "", "": "", "role:button": "role:button", // several matches
		} {
			assert.Check(t, is.Equal(words(query), want), "%q", query)
		}
		bin.Rename("Restore")
		assert.Check(t, is.Equal(words(ref), "Delete everything"))
		w.fails(aai.StaleRef, "ax_click", `{"app": "Office", "query": "`+ref+`"}`)
		// A program that hangs delays the search only briefly.
		target, err := w.app.Operator.FindTarget(w.Context(), &aai.Call{Caller: w.caller}, "Office")
		assert.NilError(t, err)
		p.Hang()
		ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
		defer cancel()
		took := elapsed(func() {
			call := &aai.Call{Caller: w.caller, Args: map[string]any{"app": "Office", "query": "Delete"}, Target: target}
			assert.Check(t, is.Contains(w.app.Operator.ResolveTarget(ctx, call).AllText, "Delete"))
		})
		assert.Check(t, took <= 2*time.Second, "took %s of the bubble's time", took)
		p.Resume()
	})
}
