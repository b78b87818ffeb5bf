package treecache_test

import (
	"context"
	"fmt"
	"testing"
	"time"

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

// flood sends more events than a watcher can hold.
func flood(w *treecache.Broadcaster) {
	for range 1000 {
		w.Send(desktop.Event{Kind: desktop.TextChanged, At: time.Now()})
	}
}

// TestBroadcaster checks that a watcher receives all events, and a slow one receives one Lost event in
// place of the dropped ones and then continues.
func TestBroadcaster(t *testing.T) {
	var w treecache.Broadcaster
	slow, ok := w.Watch(t.Context())
	if !ok {
		t.Fatal("the app has ended, it says")
	}
	flood(&w)
	kinds := read(slow)
	for i, kind := range kinds {
		if last := i == len(kinds)-1; last != (kind == string(desktop.Lost)) {
			t.Fatalf("event %d of %d is a %q", i+1, len(kinds), kind)
		}
	}
	w.Send(desktop.Event{Kind: desktop.ValueChanged})
	w.Send(desktop.Event{Kind: desktop.CaretMoved})
	if got := fmt.Sprint(read(slow)); got != "[value caret]" {
		t.Errorf("after a flood that was read came %s", got)
	}
}

// TestBroadcasterClose checks that the last event reports the end, even if the buffer was full, and that no
// events and no watchers follow.
func TestBroadcasterClose(t *testing.T) {
	var w treecache.Broadcaster
	full, _ := w.Watch(t.Context())
	flood(&w)
	<-full // one slot is free, and the last waiting event reports lost events
	ctx, cancel := context.WithCancel(t.Context())
	idle, _ := w.Watch(ctx)
	w.Close()
	w.Close()
	w.Send(desktop.Event{Kind: desktop.ValueChanged})
	kinds := read(full)
	if last := kinds[len(kinds)-1]; last != string(desktop.Lost) {
		t.Errorf("the last event is a %q", last)
	}
	if read(full) != nil {
		t.Error("something came after the end")
	}
	if got := fmt.Sprint(read(idle)); got != "[lost]" {
		t.Errorf("who had read all got %s", got)
	}
	if _, ok := w.Watch(t.Context()); ok || !w.IsClosed() {
		t.Error("an app that has ended can be watched")
	}
	cancel()
	if _, open := <-idle; open {
		t.Error("something came after the end")
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
