package treecache_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/treecache"
)

// read returns all events that are waiting, without blocking.
func read(events <-chan desktop.Event) (kinds []string) {
	for {
		select {
		case e, open := <-events:
			if !open {
				return append(kinds, "closed")
			}
			kinds = append(kinds, string(e.Kind))
		default:
			return kinds
		}
	}
}

// flood sends n events.
func flood(w *treecache.Broadcaster, n int) {
	for i := range n {
		w.Send(desktop.Event{Kind: desktop.TextChanged, Detail: fmt.Sprint(i), At: time.Now()})
	}
}

// readAll returns all events up to one of the kind.
func readAll(t *testing.T, events <-chan desktop.Event, until desktop.EventKind) (all []desktop.Event) {
	t.Helper()
	for {
		select {
		case e := <-events:
			all = append(all, e)
			if e.Kind == until {
				return all
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("no event of the kind %q after %d events", until, len(all))
		}
	}
}

// TestBroadcaster checks that a watcher that pauses receives all events in order.
func TestBroadcaster(t *testing.T) {
	var w treecache.Broadcaster
	slow, ok := w.Watch(t.Context())
	assert.Assert(t, ok, "the app has ended, it says")
	flood(&w, 5000)
	w.Send(desktop.Event{Kind: desktop.ValueChanged})
	all := readAll(t, slow, desktop.ValueChanged)
	assert.Check(t, is.Len(all, 5001), "%d of 5001 events have arrived", len(all))
	for i, e := range all[:len(all)-1] {
		assert.Equal(t, e.Detail, fmt.Sprint(i), "%d", i)
	}
}

// TestBroadcasterOverflows checks that a watcher that reads nothing for long receives one Lost event in place of the
// dropped ones and then continues.
func TestBroadcasterOverflows(t *testing.T) {
	var w treecache.Broadcaster
	slow, _ := w.Watch(t.Context())
	flood(&w, 50_000)
	kept := len(readAll(t, slow, desktop.Lost))
	assert.Check(t, kept <= 21_000, "%d events were kept", kept)
	w.Send(desktop.Event{Kind: desktop.ValueChanged})
	all := readAll(t, slow, desktop.ValueChanged)
	last := -1
	for i, e := range all[:len(all)-1] { // the flood may go on after the first Lost, and overflow again
		if e.Kind == desktop.Lost {
			continue
		}
		if number, err := strconv.Atoi(e.Detail); err != nil || number <= last {
			t.Fatalf("after the flood event %d of %d is %q after %d", i, len(all), e.Detail, last)
		} else {
			last = number
		}
	}
}

// TestBroadcasterClose checks that the last event reports the end, even if the buffer was full, and that no
// events and no watchers follow.
func TestBroadcasterClose(t *testing.T) {
	var w treecache.Broadcaster
	full, _ := w.Watch(t.Context())
	flood(&w, 1000)
	ctx, cancel := context.WithCancel(t.Context())
	idle, _ := w.Watch(ctx)
	w.Close()
	w.Close()
	w.Send(desktop.Event{Kind: desktop.ValueChanged})
	all := readAll(t, full, desktop.Lost)
	last := all[len(all)-1]
	assert.Check(t, is.Equal(last.Detail, desktop.Ended), "the last event is %+v", last)
	assert.Check(t, read(full) == nil, "something came after the end")
	got := fmt.Sprint(read(idle))
	assert.Check(t, is.Equal(got, "[lost]"), "who had read all got %s", got)
	_, ok := w.Watch(t.Context())
	assert.Assert(t, !ok, "an app that has ended can be watched")
	assert.Assert(t, w.IsClosed(), "an app that has ended can be watched")
	cancel()
	_, open := <-idle
	assert.Check(t, !open, "something came after the end")
}

// TestBroadcasterReaderLeaves checks that the channel of a reader closes although events wait for it.
func TestBroadcasterReaderLeaves(t *testing.T) {
	var w treecache.Broadcaster
	ctx, cancel := context.WithCancel(t.Context())
	full, _ := w.Watch(ctx)
	flood(&w, 5000)
	cancel()
	for range full { // ends once it is closed
	}
}

// TestPasswordFields checks that a password field remains one, and that an app that invents such fields
// does not fill the memory.
func TestPasswordFields(t *testing.T) {
	var s treecache.PasswordFields[string]
	s.Add("field")
	for n := range 20_000 {
		s.Add(fmt.Sprint(n))
	}
	if !s.Has("9998") || s.Has("9999") { // this field makes 10,000
		t.Errorf("the last that has room: %v, the first that has none: %v", s.Has("9998"), s.Has("9999"))
	}
	if !s.Has("field") || s.Has("19999") || s.Has("button") {
		t.Errorf("kept: the field %v, one too many %v, a button %v", s.Has("field"), s.Has("19999"), s.Has("button"))
	}
}
