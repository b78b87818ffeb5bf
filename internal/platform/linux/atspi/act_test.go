//go:build linux

package atspi_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/atspi"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// An actionCase is an action on one control of a fixture, with its expected effect.
type actionCase struct {
	role  desktop.Role
	name  string
	act   desktop.Act
	key   string // of the fixture's state
	want  any
	lacks []linuxtest.Kind // toolkits that do not support it, and return an error
}

func actionCases() []actionCase {
	return []actionCase{
		{desktop.Button, "Press", desktop.Act{Verb: desktop.Press}, "presses", 1, nil},
		{desktop.Button, "Slow", desktop.Act{Verb: desktop.Press}, "slow", 1, nil},
		{desktop.Checkbox, "Agree", desktop.Act{Verb: desktop.Press}, "agree", true, []linuxtest.Kind{linuxtest.GTK4}},
		{desktop.Textbox, "Full name", desktop.Act{Verb: desktop.SetText, Text: "Grüße 🙂 日本"}, "name", "Grüße 🙂 日本", []linuxtest.Kind{linuxtest.Chromium}},
		{desktop.Textbox, "Full name", desktop.Act{Verb: desktop.SetText, Text: ""}, "name", "", []linuxtest.Kind{linuxtest.Chromium}},
		{desktop.Textbox, "Full name", desktop.Act{Verb: desktop.InsertText, Text: "é🙂"}, "name", "é🙂", []linuxtest.Kind{linuxtest.Chromium}},
		{desktop.Textbox, "Password", desktop.Act{Verb: desktop.SetText, Text: "s3cret"}, "password", "s3cret", []linuxtest.Kind{linuxtest.Chromium}},
		{desktop.Textbox, "Notes", desktop.Act{Verb: desktop.SetText, Text: "one\ntwo"}, "notes", "one\ntwo", []linuxtest.Kind{linuxtest.Chromium}},
		{desktop.Slider, "Volume", desktop.Act{Verb: desktop.SetNumber, Number: 70}, "volume", 70, nil},
		{desktop.Spinbutton, "Count", desktop.Act{Verb: desktop.SetNumber, Number: 42}, "count", 42, nil},
		{desktop.Spinbutton, "Count", desktop.Act{Verb: desktop.SetText, Text: "17"}, "count", 17, nil},
		{desktop.Option, "Fruit 3", desktop.Act{Verb: desktop.SelectItem}, "fruit", "Fruit 3", nil},
		{desktop.Tab, "Second", desktop.Act{Verb: desktop.SelectItem}, "tab", "Second", nil},
		{desktop.Button, "On second", desktop.Act{Verb: desktop.Press}, "second", 1, nil},
	}
}

// TestActions checks that actions have the requested effect in the app's own state, and that unsupported
// ones return an error with delivery not_delivered.
func TestActions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			f, app := w.fixture(t, kind)
			for _, d := range actionCases() {
				e := w.shows(t, app, d.role, d.name)
				err := w.bus.Execute(t.Context(), app, e.ID, d.act)
				if contains(d.lacks, kind) {
					c, delivery := code(err)
					assert.Check(t, is.Equal(c, aai.AutomationNotSupported), "%s %q %v", d.act.Verb, d.name, err)
					assert.Check(t, is.Equal(delivery, aai.NotDelivered), "%s %q %v", d.act.Verb, d.name, err)
					continue
				}
				assert.NilError(t, err, "%s %q", d.act.Verb, d.name)
				f.WaitState(t, d.key, d.want)
			}
			checkEffects(t, w, app, kind)
		})
	}
}

func contains(kinds []linuxtest.Kind, kind linuxtest.Kind) bool {
	for _, k := range kinds {
		if k == kind {
			return true
		}
	}
	return false
}

// checkEffects checks that the effects appear in the next snapshots and in fresh readings.
func checkEffects(t *testing.T, w *world, app desktop.App, kind linuxtest.Kind) {
	t.Helper()
	w.await(t, app, "the label counts the slow presses", func(s *desktop.Snapshot) bool {
		return len(matches(s, desktop.Label, "Slow 1 times"))+len(matches(s, desktop.Text, "Slow 1 times")) > 0
	})
	s := w.await(t, app, "the spin button has the number", func(s *desktop.Snapshot) bool {
		return find(t, s, desktop.Spinbutton, "Count").Value == "17"
	})
	if kind == linuxtest.Chromium {
		return
	}
	for name, want := range map[string]string{"Full name": "é🙂", "Notes": "one\ntwo", "Password": ""} {
		e := find(t, s, desktop.Textbox, name)
		read, err := w.bus.Read(t.Context(), app, e.ID)
		assert.NilError(t, err)
		assert.Check(t, is.Equal(e.Value, want), name)
		assert.Check(t, is.Equal(read.Value, want), name)
	}
}

// TestRefusedActions checks that impossible actions do nothing and return an error.
func TestRefusedActions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			f, app := w.fixture(t, kind)
			w.shows(t, app, desktop.Button, "Press")
			s := w.snapshot(t, app)
			press := desktop.Act{Verb: desktop.Press}
			refused := func(e desktop.Element, act desktop.Act, want aai.Code) {
				t.Helper()
				c, delivery := code(w.bus.Execute(t.Context(), app, e.ID, act))
				assert.Check(t, is.Equal(c, want), "%s %s %q", act.Verb, e.Role, e.Name)
				assert.Check(t, is.Equal(delivery, aai.NotDelivered), "%s %s %q", act.Verb, e.Role, e.Name)
			}
			disabled := aai.AutomationFailed
			refused(find(t, s, desktop.Button, "Disabled"), press, disabled)
			if e, ok := named(s, "On second"); ok {
				refused(e, press, aai.AutomationFailed) // it is in a closed tab
			}
			refused(find(t, s, desktop.Slider, "Volume"), desktop.Act{Verb: desktop.SetNumber, Number: 101}, aai.InvalidParams)
			refused(find(t, s, desktop.Spinbutton, "Count"), desktop.Act{Verb: desktop.SetText, Text: "many"}, aai.AutomationFailed)
			refused(find(t, s, desktop.Button, "Press"), desktop.Act{Verb: desktop.SetNumber, Number: 1}, aai.AutomationNotSupported)
			refused(find(t, s, desktop.Button, "Press"), desktop.Act{Verb: desktop.SetText, Text: "x"}, aai.AutomationNotSupported)
			refused(find(t, s, desktop.Button, "Press"), desktop.Act{Verb: desktop.Press, Action: "explode"}, aai.AutomationNotSupported)
			refused(desktop.Element{ID: "/org/a11y/atspi/accessible/999999999"}, press, aai.StaleRef)
			refused(desktop.Element{ID: "nonsense"}, press, aai.StaleRef)
			w.perform(t, app, find(t, s, desktop.Button, "Dead"), press)
			for key, want := range map[string]any{"presses": 0.0, "second": 0.0, "volume": 30.0, "count": 5.0} {
				assert.Check(t, is.Equal(f.State(t)[key], want), key)
			}
		})
	}
}

// named finds an element, showing or not.
func named(s *desktop.Snapshot, name string) (desktop.Element, bool) {
	for _, e := range s.Elements {
		if e.Name == name {
			return e, true
		}
	}
	return desktop.Element{}, false
}

// TestShuffledRows checks that deleted rows are gone, even if new ones took their place, and that the next
// snapshot contains the new ones.
func TestShuffledRows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			f, app := w.fixture(t, kind)
			old := w.shows(t, app, desktop.Option, "Fruit 1")
			w.perform(t, app, w.shows(t, app, desktop.Button, "Shuffle"), desktop.Act{Verb: desktop.Press})
			f.WaitState(t, "shuffled", 1)
			w.await(t, app, "the rows are in reverse order", func(s *desktop.Snapshot) bool {
				first := matches(s, desktop.Option, "Fruit 40")
				return len(first) == 1 && first[0].Pos == 1 && first[0].Size == 40
			})
			c, _ := code(w.bus.Execute(t.Context(), app, old.ID, desktop.Act{Verb: desktop.SelectItem}))
			if kind != linuxtest.Qt6 && c != aai.StaleRef { // Qt identifies rows by their index
				t.Errorf("selecting a row that was thrown away: %s", c)
			}
			assert.Check(t, is.Equal(f.State(t)["fruit"], ""))
		})
	}
}

// TestFocusAndScroll checks the verbs that few toolkits support.
func TestFocusAndScroll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			_, app := w.fixture(t, kind)
			name := w.shows(t, app, desktop.Textbox, "Full name")
			err := w.bus.Execute(t.Context(), app, name.ID, desktop.Act{Verb: desktop.TakeFocus})
			if kind == linuxtest.GTK4 {
				c, _ := code(err)
				assert.Check(t, is.Equal(c, aai.AutomationNotSupported), err)
			} else {
				assert.NilError(t, err)
				w.await(t, app, "the text box has the focus", func(s *desktop.Snapshot) bool {
					return find(t, s, desktop.Textbox, "Full name").States.Has(desktop.Focused)
				})
			}
			last, ok := named(w.snapshot(t, app), "Fruit 40")
			assert.Assert(t, ok, "the last fruit is not in the tree")
			err = w.bus.Execute(t.Context(), app, last.ID, desktop.Act{Verb: desktop.ScrollTo})
			if kind == linuxtest.Qt6 { // its lists report no scroll bars
				c, delivery := code(err)
				assert.Check(t, is.Equal(c, aai.AutomationNotSupported), err)
				assert.Check(t, is.Equal(delivery, aai.NotDelivered), err)
				return
			}
			assert.NilError(t, err)
			w.shows(t, app, desktop.Option, "Fruit 40")
		})
	}
}

// TestWhatIsWrittenIn checks LibreOffice's paragraphs and cells, which never have SENSITIVE.
func TestWhatIsWrittenIn(t *testing.T) {
	const paragraph, cell, button = 73, 56, 43
	const editable, focusable, sensitive = 1 << 7, 1 << 11, 1 << 24
	for _, c := range []struct {
		role   uint32
		states uint64
		want   bool
	}{
		{paragraph, editable | focusable, true}, {paragraph, focusable, false}, {paragraph, sensitive, true},
		{cell, focusable, true}, {button, editable | focusable, false}, {button, sensitive, true},
	} {
		got := atspi.Sensitive(c.role, c.states)
		assert.Check(t, is.Equal(got, c.want), "role %d in states %b: %v", c.role, c.states, got)
	}
}
