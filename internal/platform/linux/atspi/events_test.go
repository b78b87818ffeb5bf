//go:build linux

package atspi_test

import (
	"context"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// awaitEvent reads events until one is of the kind.
func awaitEvent(t *testing.T, events <-chan desktop.Event, kind desktop.EventKind) desktop.Event {
	t.Helper()
	limit := time.After(patience)
	var seen []desktop.Event
	for {
		select {
		case e, open := <-events:
			assert.Assert(t, open, "the channel was closed before a %q came; it brought %v", kind, seen)
			if e.Kind == kind {
				return e
			}
			seen = append(seen, e)
		case <-limit:
			t.Fatalf("no %q came; only %v", kind, seen)
		}
	}
}

// TestWatchReportsChanges checks that each kind of change results in an event with the element's ID.
func TestWatchReportsChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			_, app := w.fixture(t, kind)
			slider := w.shows(t, app, desktop.Slider, "Volume")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			events, err := w.bus.Watch(ctx, app)
			assert.NilError(t, err)
			before := time.Now()
			w.perform(t, app, slider, desktop.Act{Verb: desktop.SetNumber, Number: 66})
			changed := desktop.ValueChanged
			if kind == linuxtest.GTK4 {
				changed = desktop.NameChanged // GTK 4.8 reports it so
			}
			e := awaitEvent(t, events, changed)
			assert.Check(t, is.Equal(e.ID, slider.ID), e)
			assert.Check(t, !e.At.Before(before), "the event is %v, of the slider %s", e, slider.ID)
			w.perform(t, app, w.shows(t, app, desktop.Button, "Shuffle"), desktop.Act{Verb: desktop.Press})
			if kind != linuxtest.Qt6 { // Qt sends no event for a list with a changed model
				awaitEvent(t, events, desktop.ChildrenChanged)
			}
			if kind != linuxtest.GTK4 {
				agree := w.shows(t, app, desktop.Checkbox, "Agree")
				for len(events) > 0 { // a refilled list sends so many events that the buffer may be full
					<-events
				}
				w.perform(t, app, agree, desktop.Act{Verb: desktop.Press})
				for e := awaitEvent(t, events, desktop.StateChanged); e.Detail != "checked"; {
					e = awaitEvent(t, events, desktop.StateChanged)
				}
			}
			cancel()
			eventually(t, "the channel is closed", func() bool {
				select {
				case _, open := <-events:
					return !open
				default:
					return false
				}
			})
		})
	}
}

// TestWatchOneApp checks that changes in another app result in no event.
func TestWatchOneApp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, one := w.fixture(t, linuxtest.GTK3)
	_, two := w.fixture(t, linuxtest.Qt6)
	slider := w.shows(t, one, desktop.Slider, "Volume")
	w.shows(t, two, desktop.Slider, "Volume")
	ofOne, err := w.bus.Watch(t.Context(), one)
	assert.NilError(t, err)
	ofTwo, err := w.bus.Watch(t.Context(), two)
	assert.NilError(t, err)
	w.perform(t, one, slider, desktop.Act{Verb: desktop.SetNumber, Number: 11})
	awaitEvent(t, ofOne, desktop.ValueChanged)
	w.perform(t, two, w.shows(t, two, desktop.Slider, "Volume"), desktop.Act{Verb: desktop.SetNumber, Number: 12})
	e := awaitEvent(t, ofTwo, desktop.ValueChanged)
	assert.Check(t, e.ID != slider.ID, "an event of the other app came: %v", e)
}

// TestSlowWatcher checks that a slow watcher loses events and receives a Lost event, without delaying
// others.
func TestSlowWatcher(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, app := w.fixture(t, linuxtest.GTK3)
	slider := w.shows(t, app, desktop.Slider, "Volume")
	slow, err := w.bus.Watch(t.Context(), app)
	assert.NilError(t, err)
	for n := range 400 {
		w.perform(t, app, slider, desktop.Act{Verb: desktop.SetNumber, Number: float64(n%2) * 50})
	}
	w.snapshot(t, app) // all events have arrived
	awaitEvent(t, slow, desktop.Lost)
	w.perform(t, app, slider, desktop.Act{Verb: desktop.SetNumber, Number: 33})
	awaitEvent(t, slow, desktop.ValueChanged)
}

// TestWatchEnds checks that the last event after the end of an app or a bus reports that no more will
// follow.
func TestWatchEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, app := w.fixture(t, linuxtest.GTK3)
	_, rest := w.fixture(t, linuxtest.Qt6)
	events, err := w.bus.Watch(t.Context(), app)
	assert.NilError(t, err)
	others, err := w.bus.Watch(t.Context(), rest)
	assert.NilError(t, err)
	f.Kill(t)
	awaitEvent(t, events, desktop.Lost)
	c, _ := code(second(w.bus.Watch(t.Context(), app)))
	assert.Check(t, is.Equal(c, aai.AppNotRunning), "watching an app that ended: %s", c)
	w.StopA11y(t)
	awaitEvent(t, others, desktop.Lost)
}

func second[T any](_ T, err error) error { return err }
