package descriptors_test

import (
	"encoding/json"
	"fmt"
	"slices"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func checkMousepad(w *world) {
	w.write("docs/a.txt", "hello\n")
	w.write("docs/b.txt", written)
	w.start("mousepad", "$HOME/docs/b.txt")
	w.windows(`b\.txt - Mousepad`, "mousepad")

	p := w.app("org.xfce.mousepad")
	p.has("list_window_actions", `{}`, "file.save", "edit.select-all")
	checkMousepadSaving(w, p)
	checkMousepadEditing(w, p)
	checkMousepadOptions(w, p)
	p.callsVoid("open_files", `{"uris": ["file://$HOME/docs/a.txt"]}`)
	w.windows(`a\.txt - Mousepad`, "mousepad")
	p.callsVoid("new_document", `{}`)
	w.windows(`Untitled 1 - Mousepad`, "mousepad")
}

// The file's initial content, and the same without trailing spaces.
const (
	written  = "one  \n\ttwo\n        three\n"
	stripped = "one\n\ttwo\n        three\n"
)

// An edit shows in the title as a star, and in the file only after saving.
func checkMousepadSaving(w *world, p *app) {
	p.eventuallyGives("window_action_state", `{"action_name": "file.save"}`, `[false, "", [0]]`)
	p.callsVoid("edit", `{"action_name": "edit.convert.strip-trailing-spaces"}`)
	w.windows(`^\*.*b\.txt - Mousepad$`, "mousepad")
	w.file("docs/b.txt", written)
	p.canBeSaved(true)
	p.callsVoid("save", `{}`)
	w.file("docs/b.txt", stripped)
	p.canBeSaved(false)

	p.callsVoid("edit", `{"action_name": "edit.undo"}`)
	w.windows(`^\*`, "mousepad")
	p.callsVoid("save", `{"action_name": "file.save-all"}`)
	w.file("docs/b.txt", written)
}

// canBeSaved waits until the action file.save is enabled, or disabled.
func (a *app) canBeSaved(want bool) {
	a.Helper()
	a.eventually(func() error {
		state, _ := a.call("window_action_state", `{"action_name": "file.save"}`).([]any)
		if len(state) != 3 || state[0] != want {
			return fmt.Errorf("file.save: expected %t first, got %v", want, state)
		}
		return nil
	})
}

// Every edit that the descriptor offers, with the file's content afterwards.
func checkMousepadEditing(w *world, p *app) {
	steps := []struct{ action, content string }{
		{"edit.redo", stripped},
		{"edit.undo", written},
		{"edit.convert.strip-trailing-spaces", stripped},
		{"edit.convert.tabs-to-spaces", "one\n        two\n        three\n"},
		{"edit.convert.spaces-to-tabs", "one\n\ttwo\n\tthree\n"},
		{"edit.duplicate-line-selection", "one\none\n\ttwo\n\tthree\n"},
		{"edit.increase-indent", "one\n\tone\n\ttwo\n\tthree\n"},
		{"edit.decrease-indent", "one\none\n\ttwo\n\tthree\n"},
		{"edit.move.line-down", "one\n\ttwo\none\n\tthree\n"},
		{"edit.move.line-up", "one\none\n\ttwo\n\tthree\n"},
		{"edit.delete-line", "one\n\ttwo\n\tthree\n"},
	}
	tried := map[string]bool{}
	for _, step := range steps {
		p.edit(step.action, step.content)
		tried[step.action] = true
	}
	for _, action := range w.choices("org.xfce.mousepad", "edit", "action_name") {
		assert.Check(w, tried[action], "edit: there is no case for %s", action)
	}
}

// edit makes one edit and saves.
func (a *app) edit(action, content string) {
	a.Helper()
	a.Log(action)
	a.callsVoid("edit", fmt.Sprintf(`{"action_name": %q}`, action))
	a.canBeSaved(true) // save does nothing before the edit is done
	a.callsVoid("save", `{}`)
	a.file("docs/b.txt", content)
}

func checkMousepadOptions(w *world, p *app) {
	options := w.choices("org.xfce.mousepad", "set_option", "action_name")
	assert.Assert(w, is.Len(options, 9))
	assert.Assert(w, slices.Equal(options, w.choices("org.xfce.mousepad", "option_state", "action_name")), "set_option and option_state: expected the same nine options, got %v", options)
	for _, option := range options {
		for _, value := range []bool{true, false} {
			p.callsVoid("set_option", fmt.Sprintf(`{"action_name": %q, "value": %t}`, option, value))
			p.gives("option_state", fmt.Sprintf(`{"action_name": %q}`, option), fmt.Sprintf(`[true, "", [%t]]`, value))
			w.shows(fmt.Sprintf(`<%t>`, value), "gdbus", "call", "--session", "--dest", "org.xfce.mousepad",
				"--object-path", "/org/xfce/mousepad", "--method", "org.gtk.Actions.Describe", option)
		}
	}
}

// choices returns the values that a descriptor allows for a parameter.
func (w *world) choices(id, tool, parameter string) []string {
	w.Helper()
	var schema struct {
		Properties map[string]struct{ Enum []string }
	}
	assert.NilError(w, json.Unmarshal(parse(w.TB, id).App.Tool(tool).Params.Source, &schema))
	return schema.Properties[parameter].Enum
}
