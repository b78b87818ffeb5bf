package gui_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/refs"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui"
	"github.com/gybob/aai-gateway/internal/testkit/fakedesktop"
)

// TestAliasesOfOthers: an alias must not be the name of another program, so that the name reaches
// the program that has it.
func TestAliasesOfOthers(t *testing.T) {
	inWorld(t, func(w *world) {
		w.d.Program("Editor").Window("One").Button("Save", nil)
		other := w.d.Program("Mail")
		other.Window("Letters").Button("Send", nil)
		for _, alias := range []string{"Mail", "MAIL", "mail", "desktop/mail", "desktop/x", fmt.Sprint(other.PID()), "12"} {
			assert.Check(w, w.failure(aai.InvalidParams, "ax_connect", fmt.Sprintf(`{"app": "Editor", "alias": %q}`, alias)).Hint != "", "%s: no hint", alias)
		}
		w.ok("ax_connect", `{"app": "Editor", "alias": "mine"}`)
		w.want(w.ok("ax_list_windows", `{"app": "mine"}`), "One", "windows", 0, "title")
		w.want(w.ok("ax_list_windows", `{"app": "Mail"}`), "Letters", "windows", 0, "title")
	})
}

// TestAnAliasThatBecameAName: such a name is ambiguous, so neither program is touched.
func TestAnAliasThatBecameAName(t *testing.T) {
	inWorld(t, func(w *world) {
		editor := w.d.Program("Editor")
		editor.Window("One")
		w.ok("ax_connect", `{"app": "Editor", "alias": "mail"}`)
		w.want(w.ok("ax_list_windows", `{"app": "mail"}`), "One", "windows", 0, "title")
		w.d.Program("Mail").Window("Letters")
		w.fails(aai.AmbiguousTarget, "ax_list_windows", `{"app": "mail"}`)
		w.want(w.ok("ax_list_windows", fmt.Sprintf(`{"app": "%d"}`, editor.PID())), "One", "windows", 0, "title")
	})
}

// TestTheOldestConversationIsForgotten: the number of conversations is limited, and use makes a
// conversation the latest.
func TestTheOldestConversationIsForgotten(t *testing.T) {
	const most = 200
	inWorld(t, func(w *world) {
		w.d.Program("Editor").Window("One").Button("Save", func() {})
		idle, busy := w.as("idle"), w.as("busy")
		find := func(w *world, query string) *aai.Error {
			_, err := w.do("ax_find", `{"app": "Editor", "query": "`+query+`"}`)
			return err
		}
		ref := at(idle.ok("ax_find", `{"app": "Editor", "query": "Save"}`).data, "element_ref")
		is, ok := ref.(string)
		if again := at(busy.ok("ax_find", `{"app": "Editor", "query": "Save"}`).data, "element_ref"); !ok || again != ref {
			w.Fatalf("the references are %v and %v", ref, again)
		}
		for i := range most - 2 {
			if err := find(w.as(strconv.Itoa(i)), "Save"); err != nil {
				w.Fatal(err)
			}
		}
		if err := find(busy, is); err != nil {
			w.Errorf("one of %d: %v", most, err)
		}
		_ = find(w.as("one more"), "Save")
		if err := find(busy, is); err != nil {
			w.Errorf("not the oldest: %v", err)
		}
		if err := find(idle, is); err == nil {
			w.Error("the oldest is not forgotten")
		}
	})
}

// TestNothingCrosses: two callers with the same name and session share neither aliases nor refs.
func TestNothingCrosses(t *testing.T) {
	inWorld(t, func(w *world) {
		pressed := 0
		w.d.Program("Editor").Window("One").Button("Save", func() { pressed++ })
		mine, theirs, unknown := *w, *w, *w
		mine.caller.Identity, theirs.caller.Identity = "/usr/bin/good", "/home/u/evil"
		mine.ok("ax_connect", `{"app": "Editor", "alias": "mine"}`)
		mine.ok("ax_get_tree", `{"app": "Editor"}`)
		for _, other := range []*world{&theirs, &unknown} {
			other.fails(aai.AppNotFound, "ax_list_windows", `{"app": "mine"}`)
			_, err := other.do("ax_click", `{"app": "Editor", "query": "e1"}`)
			assert.Assert(w, err != nil, "%q has pressed by a reference of another: %v, %d", other.caller.Identity, err, pressed)
			assert.Equal(w, pressed, 0, "%q %v", other.caller.Identity, err)
		}
		renamed := mine
		renamed.caller.Name = "another word for the same"
		renamed.ok("ax_list_windows", `{"app": "mine"}`)
	})
}

// TestWhatRunsIsNotForgotten: a running program may be missing from the list for a moment. Then its
// refs are stale, and not unknown.
func TestWhatRunsIsNotForgotten(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.d.Program("Editor")
		window := p.Window("One")
		window.Button("Save", func() {})
		ref := at(w.ok("ax_find", `{"app": "Editor", "query": "Save"}`).data, "element_ref")
		window.Close()
		time.Sleep(time.Second)
		w.hasNot(w.ok("ax_list_apps", `{}`).Text, "Editor")
		p.Window("Two").Button("Quit", func() {})
		time.Sleep(time.Second)
		w.fails(aai.StaleRef, "ax_click", fmt.Sprintf(`{"app": "Editor", "query": %q}`, ref))
	})
}

// atTerminal returns a function that makes a world like a terminal command: a new process on the
// same desktop and folder.
func atTerminal(t *testing.T, d *fakedesktop.Desktop) (command func() *world, folder string) {
	folder = filepath.Join(t.TempDir(), "refs")
	return func() *world {
		w := &world{
			T: t, d: d, record: &record{}, caller: aai.Caller{Door: aai.DoorCLI, Name: "terminal"},
			app: gui.New(gui.Config{Open: func() desktop.Backend { return d.Backend() }, RefsFolder: folder}),
		}
		w.gateway = &gateway.Gateway{Catalog: catalog{w.app}, Gates: []aai.Gate{admitAll{w.record}}, Journal: w.record}
		return w
	}, folder
}

// refOf returns the ref in the first line that contains thing.
func refOf(t *testing.T, text, thing string) string {
	t.Helper()
	_, after, found := strings.Cut(text, thing)
	ref, _, closed := strings.Cut(strings.TrimPrefix(after, " ["), "]")
	assert.Assert(t, found, "%s %s", thing, text)
	assert.Assert(t, closed, "%s %s", thing, text)
	return ref
}

// TestTerminalRemembers: a ref of one command is valid in the next ones for an hour, and its number
// is not reused.
func TestTerminalRemembers(t *testing.T) {
	d := fakedesktop.New()
	command, folder := atTerminal(t, d)
	f := form(command())
	box := refOf(t, command().ok("ax_get_tree", `{"app": "Form"}`).Text, `textbox "Full name"`)
	command().ok("ax_type", `{"app": "Form", "query": "`+box+`", "text": "Ada"}`)
	got := command().ok("ax_get_value", `{"app": "Form", "query": "`+box+`"}`)
	assert.Check(t, is.Equal(got.data["value"], "Ada"), "%s %v", box, got.data)
	f.Main.Button("New one", nil)
	ref := refOf(t, command().ok("ax_get_tree", `{"app": "Form"}`).Text, `"New one"`)
	assert.Check(t, ref != box, "%s was given twice", ref)

	files, err := filepath.Glob(filepath.Join(folder, "*-*.json")) // not the fields for passwords
	assert.NilError(t, err)
	assert.Assert(t, is.Len(files, 1))
	data, err := os.ReadFile(files[0])
	assert.NilError(t, err, data)
	assert.Assert(t, !strings.Contains(string(data), "Ada"), "what was typed is kept: %s, %v", data, err)
	for path, want := range map[string]os.FileMode{files[0]: 0o600, files[0] + ".lock": 0o600, folder: 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s is %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
	old := time.Now().Add(-61 * time.Minute)
	assert.NilError(t, os.Chtimes(files[0], old, old))
	command().fails(aai.StaleRef, "ax_get_value", `{"app": "Form", "query": "`+box+`"}`)
	again := refOf(t, command().ok("ax_get_tree", `{"app": "Form"}`).Text, `textbox "Full name"`)
	assert.Check(t, again != box, "%s was given again after an hour", again)
}

// TestTerminalProgramBegunAnew: a ref of a program that has ended is stale in the same program
// after a restart, even after a read.
func TestTerminalProgramBegunAnew(t *testing.T) {
	d := fakedesktop.New()
	command, _ := atTerminal(t, d)
	begin := func(label string) *fakedesktop.Program {
		p := d.Program("Notes")
		p.Window("Notes").Button(label, func() { t.Errorf("%s was pressed", label) })
		return p
	}
	p := begin("Dead")
	dead := refOf(t, command().ok("ax_get_tree", `{"app": "Notes"}`).Text, `"Dead"`)
	p.Quit()
	begin("Zebra")
	for range 2 {
		command().fails(aai.StaleRef, "ax_click", `{"app": "Notes", "query": "`+dead+`"}`)
		assert.Check(t, refOf(t, command().ok("ax_get_tree", `{"app": "Notes"}`).Text, `"Zebra"`) != dead, "%s was given again", dead)
	}
}

// TestTerminalForgets: an hour after the last command on a program, a command on another one
// removes its names, and after a week its file.
func TestTerminalForgets(t *testing.T) {
	d := fakedesktop.New()
	command, folder := atTerminal(t, d)
	form(command())
	d.Fixture("Other")
	command().ok("ax_get_tree", `{"app": "Form"}`)
	files, err := filepath.Glob(filepath.Join(folder, "*-*.json")) // not the fields for passwords
	assert.NilError(t, err)
	assert.Assert(t, is.Len(files, 1))
	age := func(hours int) {
		t.Helper()
		old := time.Now().Add(-time.Duration(hours) * time.Hour)
		assert.NilError(t, os.Chtimes(files[0], old, old))
		command().ok("ax_get_tree", `{"app": "Other"}`)
	}
	age(2)
	data, err := os.ReadFile(files[0])
	assert.NilError(t, err, data)
	assert.Assert(t, !strings.Contains(string(data), "Full name"), "after two hours there is %s, %v", data, err)
	assert.Assert(t, is.Contains(string(data), `"last"`), data)
	age(24 * 8)
	if _, err := os.Stat(files[0]); !os.IsNotExist(err) {
		t.Errorf("after a week there is %s, %v", files[0], err)
	}
}

// TestTerminalCannotRemember: the error names a broken file, and nothing is done.
func TestTerminalCannotRemember(t *testing.T) {
	d := fakedesktop.New()
	command, folder := atTerminal(t, d)
	f := form(command())
	command().ok("ax_get_tree", `{"app": "Form"}`)
	files, _ := filepath.Glob(filepath.Join(folder, "*-*.json")) // not the fields for passwords
	assert.NilError(t, os.WriteFile(files[0], []byte("{"), 0o600))
	err := command().failure(aai.AutomationFailed, "ax_click", `{"app": "Form", "query": "Press"}`)
	assert.Assert(t, is.Contains(err.Message, files[0]), err)
	assert.Equal(t, err.Delivery, aai.NotDelivered, err)
	n := f.State()["presses"]
	assert.Check(t, n == nil || n == 0.0, "it was pressed")
}

// TestTerminalAtOnce: concurrent commands give each element a unique ref.
func TestTerminalAtOnce(t *testing.T) {
	d := fakedesktop.New()
	command, _ := atTerminal(t, d)
	form(command())
	names := []string{"Press", "Disabled", "Slow", "Dead", "Agree", "Full name", "Notes", "Shuffle"}
	told := make(chan string, len(names))
	for _, name := range names {
		go func() {
			result, err := command().do("ax_find", `{"app": "Form", "query": "`+name+`"}`)
			if err != nil {
				told <- err.Error()
				return
			}
			told <- fmt.Sprint(name, " ", asJSON(t, result.Data)["element_ref"])
		}()
	}
	whose := map[string]string{}
	for range names {
		said := <-told
		i := strings.LastIndex(said, " ")
		assert.Check(t, is.Equal(whose[said[i:]], ""), said)
		assert.Check(t, refs.Is(said[i+1:]), said)
		whose[said[i:]] = said
	}
}

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
