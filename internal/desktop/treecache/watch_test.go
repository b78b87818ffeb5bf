package treecache_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

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
	assert.Check(t, is.Equal(fmt.Sprint(read(idle)), "[lost]"))
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

// TestCacheIsConsistent checks, for random changes and snapshots, that names are current, and frames too,
// except for one snapshot in the second after an action. Different snapshots have different versions, and
// equal ones have equal versions unless the app changed in between, which a reading in the background may see.
func TestCacheIsConsistent(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		elements, trusted := rapid.SampledFrom([]int{3, 500}).Draw(rt, "elements"), rapid.Bool().Draw(rt, "trusted")
		steps := rapid.SliceOfN(rapid.Custom(drawStep), 1, 30).Draw(rt, "steps")
		var wrong error
		bubble(t, func(t *testing.T) { wrong = live(t.Context(), elements, trusted, steps) })
		assert.NilError(rt, wrong)
	})
}

// A step is one event of the simulation.
type step struct {
	what    string
	element int
	name    string
	place   int
	pause   time.Duration
}

func drawStep(t *rapid.T) step {
	return step{
		what:    rapid.SampledFrom([]string{"rename", "move", "act", "wait", "tell", "look", "look"}).Draw(t, "what"),
		element: rapid.IntRange(0, 2).Draw(t, "element"),
		name:    rapid.StringN(1, 3, -1).Draw(t, "name"),
		place:   rapid.IntRange(0, 3).Draw(t, "place"),
		pause:   time.Duration(rapid.IntRange(1, 3000).Draw(t, "ms")) * time.Millisecond,
	}
}

// live applies the steps to a new app, and returns the cache's first error.
func live(ctx context.Context, elements int, trusted bool, steps []step) error {
	a := newApp(elements)
	if trusted {
		a.trusted()
	}
	var acted time.Time // without a hasty snapshot since
	var last *desktop.Snapshot
	changed := false // since the last snapshot
	for i, step := range steps {
		switch step.what {
		case "rename":
			a.rename(step.element, step.name)
			changed = true
		case "move":
			a.move(step.element, step.place)
			changed = true
		case "act":
			a.NotifyAction()
			acted = time.Now()
		case "wait":
			time.Sleep(step.pause)
		case "tell":
			_ = a.Sync(ctx, nil) // its events arrive before the query
		case "look":
			s, err := a.Snapshot(ctx)
			if err == nil && a.differs(s, true) != nil {
				hurry := time.Since(acted) < time.Second
				err = a.differs(s, !hurry)
				acted = time.Time{}
			}
			if err == nil && last != nil {
				err = compareVersions(last, s, changed)
			}
			if err != nil {
				return fmt.Errorf("step %d: %w", i+1, err)
			}
			last, changed = s, false
		}
	}
	return nil
}

// compareVersions checks the versions of two successive snapshots.
func compareVersions(before, after *desktop.Snapshot, changed bool) error {
	equal, sameVersion := slices.EqualFunc(before.Elements, after.Elements, alike), before.Version == after.Version
	if equal == sameVersion || equal && changed {
		return nil
	}
	return fmt.Errorf("versions %d and %d; equal elements: %v", before.Version, after.Version, equal)
}

func alike(a, b desktop.Element) bool { return a.Name == b.Name && a.Pos == b.Pos }

// TestReads checks that a snapshot for which nothing was read from the app counts as cached.
func TestReads(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := newApp(1000)
		a.trusted()
		for n, want := range []bool{false, false, true} {
			r := new(desktop.Reads)
			_, err := a.Snapshot(desktop.WithReads(t.Context(), r))
			assert.NilError(t, err)
			cached, known := r.Cached()
			assert.Check(t, is.Equal(cached, want), "%d %v", n, known)
			assert.Check(t, known, "snapshot %d: cached is %v, known %v", n, cached, known)
		}
		_, known := new(desktop.Reads).Cached()
		assert.Check(t, !known, "no snapshot, and it is known whether it was cached")
	})
}
