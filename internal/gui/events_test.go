package gui_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/events"
	"github.com/gybob/aai-gateway/internal/gui"
	"github.com/gybob/aai-gateway/internal/gui/eventlog"
)

// programEvents are the events that ax_get_events returned.
type programEvents struct {
	Events        []events.Event
	Last, Missing uint64
	Updates       string
}

// events reads up to 10,000 events of Form after a number.
func (w *world) events(after uint64) (got programEvents) {
	w.Helper()
	text, err := json.Marshal(w.ok("ax_get_events", fmt.Sprintf(`{"app": "Form", "after": %d, "limit": 10000}`, after)).data)
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	assert.NilError(w, err)
	return got
}

// types returns the types of the events, with the titles of windows and dialogs.
func (p programEvents) types() (all []string) {
	for _, e := range p.Events {
		all = append(all, e.Type+" "+e.Title)
	}
	return all
}

// settle lets the recorder look at the program.
func settle() { time.Sleep(3 * time.Second) }

// TestEvents: events are numbered, described when they are read, and read once.
func TestEvents(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		first := w.events(0)
		assert.Check(t, is.Len(first.Events, 0), "before anything happened: %+v", first)
		f.Main.Button("Send", nil)
		settle()
		dialog := f.Dialog("Sure?")
		settle()
		dialog.Close()
		settle()
		got := w.events(0)
		for _, want := range []string{"window_opened Sure?", "dialog_appeared Sure?", "window_closed Sure?"} {
			assert.Check(t, is.Contains(got.types(), want))
		}
		last := got.Events[len(got.Events)-1].Number
		assert.Check(t, is.Equal(last, got.Last), "the last event has the number %d, and last is %d", last, got.Last)
		if again := w.events(got.Last); len(again.Events) != 0 {
			t.Errorf("read again: %q", again.types())
		}
	})
}

// TestEventsThatAreDropped: a reader learns how many events it missed.
func TestEventsThatAreDropped(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		box := f.Main.Textbox("Counter")
		w.events(0)
		const all = 12_000
		for i := range all {
			box.SetText(fmt.Sprint(i))
			time.Sleep(time.Millisecond)
		}
		settle()
		got := w.events(1)
		assert.Check(t, is.Len(got.Events, 10_000), "%d events are kept", len(got.Events))
		first := got.Events[0].Number
		assert.Check(t, is.Equal(got.Missing, first-2), "%d events are missing between 1 and %d", got.Missing, first)
	})
}

// TestEventsOfAProgramThatEnds: a follower by name hears of the end and of the next run.
func TestEventsOfAProgramThatEnds(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		watcher, _ := gui.WatcherOf(w.app)
		changes := 0
		stop, err := watcher.Program(t.Context(), "Form", eventlog.Events, func() { changes++ })
		assert.NilError(t, err)
		defer stop()
		settle()
		f.Quit()
		settle()
		assert.Check(t, changes != 0, "the end is not reported")
		types := w.events(0).types()
		assert.Check(t, is.Contains(types, "program_ended "), "after the end its events are %q", types)
		time.Sleep(11 * time.Minute)
		w.fails(aai.AppNotFound, "ax_get_events", `{"app": "Form"}`)
		form(w)
		settle()
		before := changes
		w.events(0)
		w.ok("ax_click", `{"app": "Form", "query": "Press"}`)
		settle()
		assert.Check(t, changes != before, "the next run is not followed")
	})
}

// TestNobodyListens: a program that nobody follows is not recorded after ten minutes.
func TestNobodyListens(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		w.events(0)
		time.Sleep(11 * time.Minute)
		f.Main.Button("Send", nil)
		settle()
		if got := w.events(0); len(got.Events) != 0 {
			t.Errorf("the old recorder still runs: %q", got.types())
		}
	})
}
