package gui_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/undo"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui"
)

// undoing is a world with an undo log, and the form's state before.
type undoing struct {
	*world
	log *undo.Log
}

func undoingIn(t *testing.T, f func(u *undoing)) {
	t.Helper()
	inWorld(t, func(w *world) {
		u := &undoing{w, undo.NewLog(undo.Config{})}
		w.gateway.MutationObserver = u.log
		f(u)
	})
}

// back reverts the last acts in another conversation, without its refs.
func (u *undoing) back(count int) (outcomes []undo.Outcome) {
	u.Helper()
	taken, _, err := u.log.Revert(u.Context(), u.gateway.Do, u.caller, count, func(*undo.Act) bool { return true })
	assert.NilError(u, err)
	for _, one := range taken {
		outcomes = append(outcomes, one.Outcome)
	}
	return outcomes
}

// Each act on a field with an inverse can be reverted.
func TestActsOnFieldsAreTakenBack(t *testing.T) {
	for name, c := range map[string]struct{ tool, args string }{
		"a text":                {"ax_set_value", `"query": "Full name", "value": "Ann"`},
		"of several lines":      {"ax_set_value", `"query": "Notes", "value": "a\nb"`},
		"to nothing":            {"ax_type", `"query": "Notes", "text": "", "clear_first": true`},
		"typed":                 {"ax_type", `"query": "Full name", "text": "Grüße 🙂"`},
		"typed over it":         {"ax_type", `"query": "Full name", "text": "x", "clear_first": true`},
		"a number":              {"ax_set_value", `"query": "Count", "value": "7"`},
		"a slider":              {"ax_set_value", `"query": "Volume", "value": "55"`},
		"a box":                 {"ax_set_value", `"query": "Agree", "value": "true"`},
		"a box that is clicked": {"ax_click", `"query": "Agree"`},
		"an option":             {"ax_set_value", `"query": "Colour", "value": "Blue"`},
		"a tab":                 {"ax_click", `"query": "tab Second"`},
		"a row":                 {"ax_click", `"query": "Fruit 3"`},
		"a form": {"ax_fill", `"fields": [{"query": "Full name", "value": "Ann"}, {"query": "Volume", "value": "55"}, {"query": "Colour", "value": "Blue"},
			{"query": "Agree", "value": "true"}, {"query": "Fruits", "value": "Fruit 5"}]`},
	} {
		t.Run(name, func(t *testing.T) {
			undoingIn(t, func(u *undoing) {
				f := form(u.world)
				u.ok("ax_set_value", `{"app": "Form", "query": "Full name", "value": "Bob ${x}"}`)
				u.ok("ax_set_value", `{"app": "Form", "query": "Notes", "value": "one\ntwo"}`)
				u.ok("ax_click", `{"app": "Form", "query": "Fruit 2"}`)
				before := f.State()
				u.ok(c.tool, `{"app": "Form", `+c.args+`}`)
				assert.Assert(t, !reflect.DeepEqual(before, f.State()), "nothing changed")
				o := u.back(1)
				assert.Assert(t, is.Len(o, 1))
				assert.Assert(t, o[0].IsUndone(), "%+v", o)
				assert.Assert(t, !strings.Contains(o[0].Message, "could not be checked"), "%+v", o)
				after := f.State()
				for _, aside := range []string{"focused", "keys", "scroll", "clicks"} {
					delete(before, aside)
					delete(after, aside)
				}
				assert.Check(t, reflect.DeepEqual(before, after), "it is\n%v and was\n%v", after, before)
			})
		})
	}
}

func TestNewerWorkInAFieldIsNotOverwritten(t *testing.T) {
	undoingIn(t, func(u *undoing) {
		f := form(u.world)
		u.ok("ax_set_value", `{"app": "Form", "query": "Full name", "value": "mine"}`)
		u.ok("ax_fill", `{"app": "Form", "fields": [{"query": "Volume", "value": "55"}, {"query": "Count", "value": "7"}]}`)
		person := u.as("another")
		person.ok("ax_set_value", `{"app": "Form", "query": "Full name", "value": "the person's"}`)
		person.ok("ax_set_value", `{"app": "Form", "query": "Count", "value": "8"}`)
		for i, o := range u.back(2) {
			assert.Check(t, is.Equal(o.Status, undo.StatusChangedSince), "%+v", o)
			assert.Check(t, i != 1 || strings.Contains(o.Message, `it is "the person's", expected "mine"`), "%+v", o)
		}
		s := f.State()
		assert.Check(t, is.Equal(s["name"], "the person's"), s)
		assert.Check(t, is.Equal(s["count"], 8.0), s)
		assert.Check(t, is.Equal(s["volume"], 55.0), s)
	})
}

// An act that cannot be reversed, or on a value that must not be read, has no undo.
func TestWhatHasNoWayBackOnWindows(t *testing.T) {
	for name, c := range map[string]struct{ tool, args string }{
		"a password":       {"ax_set_value", `"query": "Password", "value": "s3cr3t-Wort2"`},
		"a password typed": {"ax_type", `"query": "Password", "text": "s3cr3t-Wort2"`},
		"a button":         {"ax_click", `"query": "Press"`},
		"keys":             {"ax_type", `"query": "Full name", "text": "x\n"`},
		"a key":            {"ax_key_press", `"key": "a"`},
	} {
		t.Run(name, func(t *testing.T) {
			undoingIn(t, func(u *undoing) {
				form(u.world)
				u.ok("ax_set_value", `{"app": "Form", "query": "Full name", "value": "Bob"}`)
				u.ok("ax_set_value", `{"app": "Form", "query": "Password", "value": "s3cr3t-Wort"}`)
				u.ok(c.tool, `{"app": "Form", `+c.args+`}`)
				acts, err := u.log.Acts(t.Context(), u.caller)
				assert.NilError(t, err)
				assert.Assert(t, is.Len(acts, 3))
				last := acts[2]
				assert.Check(t, last.Undo == nil, "%+v", last.Undo)
				kept, err := json.Marshal(acts)
				if err != nil || strings.Contains(string(kept), "s3cr3t") {
					t.Errorf("%s, %v", kept, err)
				}
			})
		})
	}
}

// An unchanged value is no mutation, and leaves nothing to revert.
func TestAnUnchangedValueIsNoMutation(t *testing.T) {
	undoingIn(t, func(u *undoing) {
		form(u.world)
		u.ok("ax_set_value", `{"app": "Form", "query": "Full name", "value": "Bob"}`)
		for tool, args := range map[string]string{
			"ax_set_value": `"query": "Full name", "value": "Bob"`,
			"ax_fill":      `"fields": [{"query": "Full name", "value": "Bob"}]`,
			"ax_window":    `"action": "restore"`,
		} {
			u.ok(tool, `{"app": "Form", `+args+`}`)
			if acts, err := u.log.Acts(t.Context(), u.caller); err != nil || len(acts) != 1 {
				t.Errorf("%s: %+v, %v", tool, acts, err)
			}
		}
	})
}

func TestTheClipboardIsTakenBack(t *testing.T) {
	undoingIn(t, func(u *undoing) {
		board := u.d.Backend().Clipboard
		holds := func(want string) {
			t.Helper()
			if now, err := board.Get(t.Context()); err != nil || now.Text != want {
				t.Errorf("it holds %q, %v", now.Text, err)
			}
		}
		_, err := board.Set(t.Context(), desktop.Clip{Text: "the person's"})
		assert.NilError(t, err)
		u.ok("ax_clipboard", `{"action": "write", "text": "mine"}`)
		o := u.back(1)
		assert.Check(t, o[0].IsUndone(), "%+v", o)
		holds("the person's")
		u.ok("ax_clipboard", `{"action": "write", "text": "mine"}`)
		_, err = board.Set(t.Context(), desktop.Clip{Text: "secret of the person"})
		assert.NilError(t, err)
		if o := u.back(1); o[0].Status != undo.StatusChangedSince || strings.Contains(o[0].Message, "secret") || strings.Contains(o[0].Message, "mine") {
			t.Errorf("%+v", o)
		}
		holds("secret of the person")
	})
}

func TestAWindowIsAsItWas(t *testing.T) {
	undoingIn(t, func(u *undoing) {
		form(u.world)
		u.d.Fixture("Other")
		minimized := func() bool {
			t.Helper()
			all, err := u.d.Backend().Windows.Windows(t.Context())
			assert.NilError(t, err)
			for _, w := range all {
				if w.Title == "Form" {
					return w.Minimized
				}
			}
			t.Fatal("it is gone")
			return false
		}
		active := func() string {
			t.Helper()
			all, err := u.d.Backend().Windows.Windows(t.Context())
			assert.NilError(t, err)
			for _, w := range all {
				if w.Active {
					return w.Title
				}
			}
			return ""
		}
		u.ok("ax_window", `{"app": "Form", "action": "minimize"}`)
		if o := u.back(1); minimized() || !o[0].IsUndone() {
			t.Errorf("%+v", o)
		}
		u.ok("ax_window", `{"app": "Form", "action": "minimize"}`)
		u.ok("ax_window", `{"app": "Form", "action": "restore"}`)
		if o := u.back(2); minimized() || !o[0].IsUndone() || !o[1].IsUndone() {
			t.Errorf("%+v", o)
		}
		u.ok("ax_window", `{"app": "Form", "action": "activate"}`)
		u.ok("ax_window", `{"app": "Other", "action": "activate"}`)
		if o := u.back(1); active() != "Form" || !o[0].IsUndone() {
			t.Errorf("%s has it: %+v", active(), o)
		}
		u.ok("ax_window", `{"app": "Form", "action": "minimize"}`)
		u.as("another").ok("ax_window", `{"app": "Form", "action": "restore"}`)
		o := u.back(1)
		assert.Check(t, is.Equal(o[0].Status, undo.StatusChangedSince), "%+v", o)
		u.ok("ax_window", `{"app": "Other", "action": "raise"}`)
		u.ok("ax_window", `{"app": "Form", "action": "raise"}`)
		acts, _ := u.log.Acts(t.Context(), aai.Caller{Door: u.caller.Door, Session: u.caller.Session})
		last := acts[len(acts)-1]
		assert.Check(t, last.Undo == nil, "%+v", last.Undo)
	})
}

// If a typed text cannot be sent, the error reports that, and the text is reverted.
func TestHalfAnActIsTakenBack(t *testing.T) {
	undoingIn(t, func(u *undoing) {
		f := form(u.world)
		u.ok("ax_set_value", `{"app": "Form", "query": "Full name", "value": "Bob"}`)
		app := gui.New(gui.Config{Open: func() desktop.Backend {
			b := u.d.Backend()
			b.Input = nil
			return b
		}})
		u.gateway.Catalog = catalog{app}
		before := f.State()
		for tool, args := range map[string]string{
			"ax_type": `"query": "Full name", "text": "Ann", "clear_first": true, "submit": true`,
			"ax_fill": `"fields": [{"query": "Full name", "value": "Ann"}], "submit": "return"`,
		} {
			e := u.failure(aai.AutomationFailed, tool, `{"app": "Form", `+args+`}`)
			if e.Delivery != aai.Delivered || reflect.DeepEqual(f.State(), before) {
				t.Fatalf("%s: %q, %s", tool, e.Message, e.Delivery)
			}
			if back := u.back(1); len(back) != 1 || !back[0].IsUndone() || !reflect.DeepEqual(f.State(), before) {
				t.Errorf("%s: %+v", tool, back)
			}
		}
	})
}
