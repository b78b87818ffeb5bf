package gui_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/events"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// eventsOf reads the events of a program after a number.
func (w *realWorld) eventsOf(app string, after uint64) (view events.View) {
	w.Helper()
	text, err := json.Marshal(w.ok("ax_get_events", params{"app": app, "after": after, "limit": 10_000}).Data)
	if err == nil {
		err = json.Unmarshal(text, &view)
	}
	assert.NilError(w, err)
	return view
}

// eventLine is an event without its number and time.
func eventLine(e events.Event) string {
	line := e.Type
	for _, part := range []string{e.Detail, e.Element} {
		if part != "" {
			line += " " + part
		}
	}
	if e.Title != "" {
		line += " in " + e.Title
	}
	return line
}

// hears waits until the events after the number in last contain all wanted ones, with the window's title, and moves last
// on.
func (w *realWorld) hears(app string, last *uint64, wanted ...string) {
	w.Helper()
	var heard []string
	defer func() {
		if w.Failed() {
			w.Logf("heard: %q", heard)
		}
	}()
	w.eventually(fmt.Sprintf("the events are %q", wanted), func() bool {
		v := w.eventsOf(app, *last)
		for _, e := range v.Events {
			heard = append(heard, eventLine(e))
		}
		*last = v.Last
		return !slices.ContainsFunc(wanted, func(want string) bool { return !slices.Contains(heard, want) })
	})
}

// TestRealEvents: what a person does in the windows of a toolkit arrives as events with the names of elements and windows.
func TestRealEvents(t *testing.T) {
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			w := newRealWorld(t)
			f, app := w.open(kind)
			last := w.eventsOf(app, 0).Last
			title := " in " + f.Title
			f.Press(t, "Agree")
			w.hears(app, &last, `state_changed checked checkbox "Agree"`+title)
			f.Press(t, "Full name")
			w.hears(app, &last, `focus_changed textbox "Full name"`+title)
			w.run("xdotool", "type", "a")
			w.hears(app, &last, `text_changed textbox "Full name"`+title)
			f.Press(t, "Volume")
			w.hears(app, &last, `focus_changed slider "Volume"`+title, `value_changed slider "Volume"`+title)
			f.Press(t, "Fruit 2")
			selects := `selection_changed listbox "Fruits"`
			if kind == linuxtest.Qt6 { // it reports the item alone
				selects = `state_changed selected option "Fruit 2"`
			}
			w.hears(app, &last, selects+title)
			f.Press(t, "Open dialog")
			opened, closed := []string{"dialog_appeared in Really?"}, []string{`focus_changed button "Open dialog"` + title}
			if kind != linuxtest.Chromium { // there the dialog is a part of the page
				opened = append(opened, `window_opened dialog "Really?" in Really?`)
				closed = append(closed, `window_closed dialog "Really?" in Really?`)
			}
			w.hears(app, &last, opened...)
			w.run("xdotool", "key", "Escape")
			w.hears(app, &last, closed...)
		})
	}
	t.Run("writer", func(t *testing.T) {
		w := newRealWorld(t)
		app := w.process(w.Writer(t, "A text."))
		w.awaitElement(app, "Bold")
		last := w.eventsOf(app, 0).Last
		const title = " in text.fodt - LibreOffice Writer"
		w.run("xdotool", "type", "b")
		w.hears(app, &last, "text_changed paragraph"+title)
		w.run("xdotool", "key", "ctrl+a")
		w.hears(app, &last, "selection_changed paragraph"+title)
		w.run("xdotool", "key", "ctrl+h")
		w.hears(app, &last, `dialog_appeared in Find and Replace`, `window_opened dialog "Find and Replace" in Find and Replace`)
		w.run("xdotool", "key", "Escape")
		w.hears(app, &last, `window_closed dialog "Find and Replace" in Find and Replace`)
	})
}
