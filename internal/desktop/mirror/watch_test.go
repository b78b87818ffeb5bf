package mirror_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"aai/internal/desktop"
	"aai/internal/desktop/mirror"
)

// read reads all that waits for the reader, without waiting for more.
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

// flood tells more than any reader has room for.
func flood(w *mirror.Watchers) {
	for range 1000 {
		w.Tell(desktop.Event{Kind: desktop.TextChanged, At: time.Now()})
	}
}

// TestWatchers: who reads gets all, who is slow gets one event that says so in the
// place of what was dropped, and goes on after it.
func TestWatchers(t *testing.T) {
	var w mirror.Watchers
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
	w.Tell(desktop.Event{Kind: desktop.ValueChanged})
	w.Tell(desktop.Event{Kind: desktop.CaretMoved})
	if got := fmt.Sprint(read(slow)); got != "[value caret]" {
		t.Errorf("after a flood that was read came %s", got)
	}
}

// TestWatchersEnd: the last event is that of the end, also where there was no room for
// it; nobody is told anything after it, and nobody can begin to watch.
func TestWatchersEnd(t *testing.T) {
	var w mirror.Watchers
	full, _ := w.Watch(t.Context())
	flood(&w)
	<-full // there is room for one more, and what waits last says that events were lost
	ctx, cancel := context.WithCancel(t.Context())
	idle, _ := w.Watch(ctx)
	w.End()
	w.End()
	w.Tell(desktop.Event{Kind: desktop.ValueChanged})
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
	if _, ok := w.Watch(t.Context()); ok || !w.Over() {
		t.Error("an app that has ended can be watched")
	}
	cancel()
	if _, open := <-idle; open {
		t.Error("something came after the end")
	}
}

// TestSecrets: what has been a password field stays one, and an app that makes them up
// does not fill the memory.
func TestSecrets(t *testing.T) {
	var s mirror.Secrets[string]
	s.Keep("field")
	for n := range 20_000 {
		s.Keep(fmt.Sprint(n))
	}
	if !s.Kept("9998") || s.Kept("9999") { // with the field they are 10,000
		t.Errorf("the last that has room: %v, the first that has none: %v", s.Kept("9998"), s.Kept("9999"))
	}
	if !s.Kept("field") || s.Kept("19999") || s.Kept("button") {
		t.Errorf("kept: the field %v, one too many %v, a button %v", s.Kept("field"), s.Kept("19999"), s.Kept("button"))
	}
}
