package gui_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/fakedesktop"
)

// losses is a gate that refuses targets with the text Delete, or irreversible ones.
type losses struct{ *record }

func (g losses) Check(ctx context.Context, r *aai.Request) ([]aai.Question, error) {
	if r.Tool.Effect == aai.Reads {
		return nil, nil
	}
	hit := r.ResolveTarget(ctx)
	if r.Destructive = hit.Irreversible || strings.Contains(hit.AllText, "Delete") || strings.Contains(hit.AllText, "onto Trash"); r.Destructive {
		return []aai.Question{{ID: "loss", Title: hit.String(), Channels: []aai.Channel{aai.DesktopDialog}}}, nil
	}
	return nil, nil
}

// risky opens a window with destructive elements, and a dialog of it if wanted.
func risky(w *world, dialog bool) (lost *int) {
	lost = new(int)
	lose := func() { *lost++ }
	p := w.d.Program("Office")
	window := p.Window("Office")
	window.Button("Save", func() {})
	window.Button("Delete", lose)
	window.Choice("Action", "Keep", "Delete")
	window.Textbox("Title").Focus()
	window.Button("Trash", func() {})
	w.gateway.Gates = []aai.Gate{losses{w.record}}
	if dialog {
		d := p.Dialog("Really?")
		d.Button("Delete", lose).AddState(desktop.Default)
		d.Button("Cancel", func() {}).Focus()
	}
	return lost
}

// TestAnAnswerIsJudgedByItsQuestion: a button that means yes is judged by its question, and a
// return that sends a message by the buttons beside it.
func TestAnAnswerIsJudgedByItsQuestion(t *testing.T) {
	for name, c := range map[string]struct {
		tool, args string
		asked      bool
	}{
		"yes":       {"ax_click", `{"app": "Office", "query": "Yes"}`, true},
		"return":    {"ax_key_press", `{"app": "Office", "key": "return"}`, true},
		"cancel":    {"ax_click", `{"app": "Office", "query": "Cancel"}`, false},
		"a message": {"ax_type", `{"app": "Mail", "query": "Message", "text": "hello", "submit": true}`, true},
		"a text":    {"ax_type", `{"app": "Mail", "query": "Message", "text": "hello\nyou"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				d := w.d.Program("Office").Dialog("Question")
				d.Text("Delete all data?")
				d.Button("Yes", func() {}).AddState(desktop.Default)
				d.Button("Cancel", func() {})
				mail := w.d.Program("Mail").Window("Mail")
				mail.Group("Menu").Button("Save", func() {})
				letter := mail.Group("Letter")
				letter.TextArea("Message").Focus()
				letter.Button("Delete and send", func() {})
				w.gateway.Gates = []aai.Gate{losses{w.record}}
				_, err := w.do(c.tool, c.args)
				assert.Check(w, is.Equal(err != nil && err.Code == aai.ConsentRequired, c.asked), err)
			})
		})
	}
}

// TestOtherElementsAreNotAskedAbout: a destructive element nearby is no reason to ask.
func TestOtherElementsAreNotAskedAbout(t *testing.T) {
	for name, c := range map[string]struct {
		tool, args string
		asked      bool
	}{
		"a button in a paragraph of several":  {"ax_click", `{"query": "Save draft"}`, false},
		"the button that the paragraph names": {"ax_click", `{"query": "Delete"}`, true},
		"an address and return":               {"ax_type", `{"query": "Address", "text": "x.org", "submit": true}`, false},
		"a field of the page and return":      {"ax_type", `{"query": "Title", "text": "x", "submit": true}`, true},
		"a message far from it":               {"ax_type", `{"query": "Message", "text": "x", "submit": true}`, false},
		"rows into a sheet":                   {"ax_set_value", `{"query": "B2", "value": "a\tb c\nd\te"}`, false},
		"rows into a page's cell":             {"ax_set_value", `{"query": "B2", "value": "a\tb c\nd\te"}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				browser := w.d.Program("Browser")
				if strings.Contains(name, "page") {
					browser.SetBrowser()
				}
				window := browser.Window("Page")
				window.Textbox("Address")
				page := window.Add(desktop.Element{Role: desktop.Document, Name: "Page"})
				several := page.Add(desktop.Element{Role: desktop.Paragraph, Name: "Delete Save draft"})
				several.Button("Delete", func() {}).AddState(desktop.Default)
				several.Button("Save draft", func() {})
				page.Textbox("Title")
				for range 4 {
					page.Button("More", func() {})
				}
				page.TextArea("Message")
				page.Add(desktop.Element{Role: desktop.Grid, Name: "Sheet"}).Add(desktop.Element{Role: desktop.Cell, Name: "B2"}).AddState(desktop.Editable | desktop.Focusable)
				w.gateway.Gates = []aai.Gate{losses{w.record}}
				_, err := w.do(c.tool, `{"app": "Browser", `+c.args[1:])
				assert.Check(w, is.Equal(err != nil && err.Code == aai.ConsentRequired, c.asked), err)
			})
		})
	}
}

// TestTargetElementsAreAskedAbout: in any way of naming the target, and whether or not the program
// was read before.
func TestTargetElementsAreAskedAbout(t *testing.T) {
	at := func(w *world, query string) (x, y int) {
		frame, _ := w.ok("ax_get_attributes", `{"app": "Office", "query": "`+query+`"}`).data["frame"].(map[string]any)
		number := func(key string) int { n, _ := frame[key].(float64); return int(n) }
		return number("x") + number("w")/2, number("y") + number("h")/2
	}
	for _, seen := range []bool{true, false} {
		for name, c := range map[string]struct {
			tool   string
			args   map[string]any
			at     string // the center is used as x and y
			dialog bool
			hit    string // "": it is an action
		}{
			"ref":              {tool: "ax_click", args: map[string]any{"query": "e3"}, hit: `button "Delete" in "Office"`},
			"nth":              {tool: "ax_click", args: map[string]any{"query": "role:button", "nth": 2}, hit: `button "Delete" in "Office"`},
			"another nth":      {tool: "ax_click", args: map[string]any{"query": "role:button", "nth": 1}},
			"pattern":          {tool: "ax_click", args: map[string]any{"query": "/^D.l/"}, hit: `button "Delete" in "Office"`},
			"point":            {tool: "ax_click_at", at: "Delete", hit: `button "Delete" in "Office"`},
			"another point":    {tool: "ax_click_at", at: "Save"},
			"choice":           {tool: "ax_set_value", args: map[string]any{"query": "Action", "value": "delete"}, hit: `option "Delete" in "Office"`},
			"another choice":   {tool: "ax_set_value", args: map[string]any{"query": "Action", "value": "Keep"}},
			"drag from":        {tool: "ax_drag", args: map[string]any{"from_query": "role:button name:Delete", "to_query": "Title"}, hit: `button "Delete / Title" in "Office"`},
			"drag onto":        {tool: "ax_drag", args: map[string]any{"from_query": "Title", "to_query": "//button[2]"}, hit: `textbox "Title / Delete" in "Office"`},
			"drag to the bin":  {tool: "ax_drag", args: map[string]any{"from_query": "Title", "to_query": "Trash"}, hit: `textbox "Title / Trash" in "Office"`},
			"open the bin":     {tool: "ax_click", args: map[string]any{"query": "Trash"}},
			"ctrl+w":           {tool: "ax_key_press", args: map[string]any{"key": "W", "modifiers": []string{"ctrl"}}, hit: `ctrl+w at textbox "Title" in "Office"`},
			"ctrl+q":           {tool: "ax_key_press", args: map[string]any{"key": "q", "modifiers": []string{"cmd"}}, hit: `ctrl+q at textbox "Title" in "Office"`},
			"alt+f4":           {tool: "ax_key_press", args: map[string]any{"key": "F4", "modifiers": []string{"alt"}, "mode": "focus"}, hit: `alt+f4 at textbox "Title" in "Office"`},
			"delete":           {tool: "ax_key_press", args: map[string]any{"key": "delete"}, hit: `delete at textbox "Title" in "Office"`},
			"shift+delete":     {tool: "ax_key_press", args: map[string]any{"key": "Delete", "modifiers": []string{"shift"}}, hit: `shift+delete at textbox "Title" in "Office"`},
			"ctrl+return":      {tool: "ax_key_press", args: map[string]any{"key": "return", "modifiers": []string{"ctrl"}}, hit: `ctrl+return at textbox "Title" in "Office"`},
			"alt+l":            {tool: "ax_key_press", args: map[string]any{"key": "l", "modifiers": []string{"alt"}}, hit: `textbox "Title" in "Office"`},
			"another alt":      {tool: "ax_key_press", args: map[string]any{"key": "v", "modifiers": []string{"alt"}}},
			"down in a list":   {tool: "ax_key_press", args: map[string]any{"query": "Action", "key": "down"}, hit: `combobox "Action" in "Office"`},
			"a letter":         {tool: "ax_key_press", args: map[string]any{"key": "d"}},
			"another key":      {tool: "ax_key_press", args: map[string]any{"key": "w"}},
			"return":           {tool: "ax_key_press", args: map[string]any{"key": "return"}},
			"space":            {tool: "ax_key_press", args: map[string]any{"key": "space"}, dialog: true},
			"typed line":       {tool: "ax_type", args: map[string]any{"query": "Title", "text": "abc"}},
			"typed into a tab": {tool: "ax_type", args: map[string]any{"query": "Title", "text": "a\t\tb c"}, hit: `textbox "Title / Save / Delete / Trash" in "Office"`},
		} {
			inWorld(t, func(w *world) {
				lost := risky(w, c.dialog)
				args := map[string]any{"app": "Office"}
				for k, v := range c.args {
					args[k] = v
				}
				if seen || c.at != "" || name == "ref" {
					w.ok("ax_get_tree", `{"app": "Office"}`)
				}
				if c.at != "" {
					args["x"], args["y"] = at(w, "role:button name:"+c.at)
				}
				raw, _ := json.Marshal(args)
				since := w.mutations()
				_, err := w.do(c.tool, string(raw))
				asked := err != nil && err.Code == aai.ConsentRequired
				if asked != (c.hit != "") || *lost > 0 {
					w.Errorf("%s, seen before %t: %v, lost %d", name, seen, err, *lost)
				}
				if !asked {
					return
				}
				w.nothingDone(since)
				if title := err.Message; len(err.Questions) == 1 {
					title = err.Questions[0].Title
					assert.Check(w, !seen || title == c.hit, "%s: the question names %s, want %s", name, title, c.hit)
				} else if !strings.Contains(title, c.hit) {
					w.Errorf("%s: the error says %s, want %s", name, title, c.hit)
				}
			})
		}
	}
}

// TestContainersOfTheTargetElement: the target includes the text in and around the element, and a
// tab leaves some multiline fields.
func TestContainersOfTheTargetElement(t *testing.T) {
	for name, c := range map[string]struct {
		window func(window *fakedesktop.Element)
		tool   string
		args   string
		asked  bool
	}{
		"a picture in a group": {func(window *fakedesktop.Element) {
			window.Group("Delete group").Button("bin", func() {})
		}, "ax_click", `"query": "bin"`, true},
		"what stands in a row": {func(window *fakedesktop.Element) {
			row := window.Add(desktop.Element{Role: desktop.ListItem, Name: "second"})
			row.Add(desktop.Element{Role: desktop.Label, Name: "Delete everything"})
		}, "ax_click", `"query": "second"`, true},
		"a letter in an open menu": {func(window *fakedesktop.Element) {
			menu := window.Add(desktop.Element{Role: desktop.Menu, Name: "File"})
			menu.Add(desktop.Element{Role: desktop.MenuItem, Name: "Delete all"})
			window.Textbox("Name").Focus()
		}, "ax_key_press", `"key": "d"`, true},
		"return in an open menu": {func(window *fakedesktop.Element) {
			menu := window.Add(desktop.Element{Role: desktop.Menu, Name: "File"})
			menu.Add(desktop.Element{Role: desktop.MenuItem, Name: "Delete all"})
			window.Textbox("Name").Focus()
		}, "ax_key_press", `"key": "return"`, true},
		"a letter beside a closed menu": {func(window *fakedesktop.Element) {
			window.Menu("File", func(string) {}, "Delete all")
			window.Textbox("Name").Focus()
		}, "ax_key_press", `"key": "d"`, false},
		"a letter where a button has the keyboard": {func(window *fakedesktop.Element) {
			window.Button("Delete", func() {})
			window.Button("Cancel", func() {}).Focus()
		}, "ax_key_press", `"key": "d"`, true},
		"a picture of the bin that is dragged onto": {func(window *fakedesktop.Element) {
			window.Textbox("Title")
			window.Group("Trash").Button("", func() {}).Describe("can.png", "")
		}, "ax_drag", `"from_query": "Title", "to_query": "role:button"`, true},
		"a button beside": {func(window *fakedesktop.Element) {
			window.Button("Delete", func() {})
			window.Button("Save", func() {})
		}, "ax_click", `"query": "Save"`, false},
		"a list around": {func(window *fakedesktop.Element) {
			list := window.Add(desktop.Element{Role: desktop.List, Name: "Deleted items: Delete or keep"})
			list.Add(desktop.Element{Role: desktop.ListItem, Name: "first"})
		}, "ax_click", `"query": "first"`, false},
		"a tab out of many lines": {func(window *fakedesktop.Element) {
			window.TextArea("Notes")
			window.Button("Delete", func() {})
		}, "ax_type", `"query": "Notes", "text": "x\t "`, true},
		"lines in many lines": {func(window *fakedesktop.Element) {
			window.TextArea("Notes")
			window.Button("Delete", func() {})
		}, "ax_type", `"query": "Notes", "text": "x\ny\tz"`, false},
	} {
		inWorld(t, func(w *world) {
			c.window(w.d.Program("Office").Window("Office").Element)
			w.gateway.Gates = []aai.Gate{losses{w.record}}
			w.ok("ax_get_tree", `{"app": "Office"}`)
			_, err := w.do(c.tool, `{"app": "Office", `+c.args+`}`)
			assert.Check(w, is.Equal(err != nil && err.Code == aai.ConsentRequired, c.asked), "%s %v", name, err)
		})
	}
}

// TestReturnPresses: return presses the focused element, or the default button.
func TestReturnPresses(t *testing.T) {
	for name, c := range map[string]struct {
		key     string
		window  func(w *world)
		presses string
	}{
		"the button with the keyboard": {"return", func(w *world) {
			d := w.d.Program("Office").Dialog("Really?")
			d.Button("Delete", nil).AddState(desktop.Default)
			d.Button("Cancel", nil).Focus()
		}, "Cancel"},
		"the default of a field's window": {"enter", func(w *world) {
			d := w.d.Program("Office").Dialog("Really?")
			d.Textbox("Why").Focus()
			d.Button("Delete", nil).AddState(desktop.Default)
			d.Button("Cancel", nil)
		}, "Delete"},
		"any button of a dialog that does not tell": {"return", func(w *world) {
			d := w.d.Program("Office").Dialog("Really?")
			d.Textbox("Why").Focus()
			d.Button("Delete", nil)
			d.Button("Cancel", nil)
		}, "Delete / Cancel"},
		"any button of a dialog of which nobody knows what has the keyboard": {"return", func(w *world) {
			d := w.d.Program("Office").Dialog("Really?")
			d.Button("Delete", nil)
			d.Button("Cancel", nil).AddState(desktop.Default)
		}, "Cancel / Delete"},
		"any button of a form": {"return", func(w *world) {
			window := w.d.Program("Office").Window("Office")
			window.Button("Outside", nil)
			form := window.Add(desktop.Element{Role: desktop.Form})
			form.Textbox("Why").Focus()
			form.Button("Delete account", nil)
		}, "Delete account"},
		"nothing in a text of lines": {"return", func(w *world) {
			d := w.d.Program("Office").Dialog("Really?")
			d.TextArea("Why").Focus()
			d.Button("Delete", nil).AddState(desktop.Default)
		}, ""},
		"what has the keyboard, by space": {"space", func(w *world) {
			d := w.d.Program("Office").Dialog("Really?")
			d.Checkbox("Delete all").Focus()
			d.Button("OK", nil).AddState(desktop.Default)
		}, "Delete all"},
		"the row with the keyboard, by space": {"space", func(w *world) {
			window := w.d.Program("Office").Window("Office")
			window.Add(desktop.Element{Role: desktop.List}).Add(desktop.Element{Role: desktop.ListItem, Name: "Delete everything"}).Focus()
		}, "Delete everything"},
		"the row with the keyboard": {"return", func(w *world) {
			window := w.d.Program("Office").Window("Office")
			window.Add(desktop.Element{Role: desktop.List}).Add(desktop.Element{Role: desktop.ListItem, Name: "Delete everything"}).Focus()
		}, "Delete everything"},
		"nothing in a field, by space": {" ", func(w *world) {
			d := w.d.Program("Office").Dialog("Really?")
			d.Textbox("Why").Focus()
			d.Button("Delete", nil).AddState(desktop.Default)
		}, ""},
	} {
		inWorld(t, func(w *world) {
			c.window(w)
			w.ok("ax_get_tree", `{"app": "Office"}`)
			w.ok("ax_key_press", fmt.Sprintf(`{"app": "Office", "key": %q, "mode": "focus"}`, c.key))
			hit := w.record.last(aai.Outcome).Element
			if c.presses == "" {
				assert.Check(w, hit.UnknownEffect, "%s: on record is %+v", name, hit)
				return
			}
			assert.Check(w, is.Equal(hit.Name, c.presses), "%s %+v", name, hit)
			assert.Check(w, !hit.UnknownEffect, "%s: on record is %+v, want %s", name, hit, c.presses)
		})
	}
}

// TestTheRecordNamesWhatWasActedOn: the record names the element in fields, however the caller
// named it, and marks unknown effects.
func TestTheRecordNamesWhatWasActedOn(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		w.gateway.Gates = []aai.Gate{losses{w.record}}
		f.Main.Button("Send", func() { f.Main.Text("sent") }).Describe("", "send-btn")
		w.ok("ax_click", `{"app": "Form", "query": "`+w.ref("Form", "Send")+`"}`)
		send := aai.TargetElement{Role: "button", Name: "Send", ID: "send-btn", Window: "Form"}
		for _, kind := range []aai.EntryKind{aai.Intent, aai.Outcome} {
			got := w.record.last(kind).Element
			assert.Check(w, is.Equal(got, send), "%s: on record is %+v", kind, got)
		}
		w.ok("ax_key_press", `{"app": "Form", "key": "x", "mode": "focus"}`)
		got := w.record.last(aai.Outcome).Element
		assert.Assert(w, got.UnknownEffect, "a key: on record is %+v", got)
		assert.Equal(w, got.Key, "", "%+v", got)
	})
}

// TestWhatWasNotSavedIsLost: reloading a window with unsaved changes is irreversible. Closing a
// window always is.
func TestWhatWasNotSavedIsLost(t *testing.T) {
	for _, c := range []struct {
		title, tool, args string
		destroys          bool
	}{
		{"*notes - Editor", "ax_click", `"query": "Reload"`, true},
		{"notes - Editor", "ax_click", `"query": "Reload"`, false},
		{"*notes - Editor", "ax_click", `"query": "Save"`, false},
		{"*notes - Editor", "ax_type", `"query": "Text", "text": "Reload"`, false},
		{"*notes - Editor", "ax_key_press", `"key": "f5"`, true},
		{"*notes - Editor", "ax_key_press", `"key": "r", "modifiers": ["ctrl"]`, true},
		{"*notes - Editor", "ax_key_press", `"key": "r"`, false},
		{"notes - Editor", "ax_key_press", `"key": "f5"`, false},
	} {
		inWorld(t, func(w *world) {
			window := w.d.Program("Editor").Window(c.title)
			window.Button("Reload", func() {})
			window.Button("Save", func() {})
			window.Textbox("Text").Focus()
			w.ok("ax_get_tree", `{"app": "Editor"}`)
			w.gateway.Gates = []aai.Gate{losses{w.record}}
			_, err := w.do(c.tool, `{"app": "Editor", `+c.args+`}`)
			assert.Check(t, is.Equal(err != nil && err.Code == aai.ConsentRequired, c.destroys), "%+v %v", c, err)
		})
	}
}
