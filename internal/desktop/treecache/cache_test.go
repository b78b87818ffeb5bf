package treecache_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/treecache"
)

// TestAtRest checks that the reading of an idle app is confirmed in the background, and then reused for ten
// seconds without a query, with the same version.
func TestAtRest(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := newApp(10)
		first := a.look(t, true)
		time.Sleep(5 * time.Second)
		confirmed := a.read()
		second := a.look(t, true)
		got := a.read()
		assert.Check(t, is.Equal(got, confirmed))
		assert.Check(t, is.Equal(first.Version, second.Version))
		assert.Check(t, second.Taken.After(first.Taken), "it was read %s, and before the second look %s; the versions are %d and %d", got, confirmed, first.Version, second.Version)
		assert.Assert(t, len(a.heartbeats) >= 2, "the pulses that were told are %q", a.heartbeats)
		assert.Assert(t, a.heartbeats[0] == "ran 0", "the pulses that were told are %q", a.heartbeats)
		time.Sleep(10 * time.Second)
		a.look(t, true)
		assert.Check(t, a.read() != confirmed, "what was read a quarter of a minute ago counts still")
	})
}

// TestMissed checks that a change during the app's way to idleness is found: by the next snapshot if the
// reading had changes, otherwise after a moment, also by the confirming reading.
func TestMissed(t *testing.T) {
	for name, c := range map[string]struct {
		looks       int // before the one that misses the change
		first, then time.Duration
	}{
		"at once, after the first look": {0, 0, 0},
		"a moment after two looks":      {1, 0, 60 * time.Millisecond},
		"after a while":                 {0, 0, 5 * time.Second},
		"after two looks and a while":   {1, 0, 5 * time.Second},
		"just before it is confirmed":   {1, 20 * time.Millisecond, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				a := newApp(10)
				for range c.looks {
					a.look(t, true)
				}
				time.Sleep(c.first)
				a.late = func() { a.true.names[3] = "missed" } // without an event
				s, err := a.Snapshot(t.Context())
				if err != nil || s.Elements[3].Name == "missed" {
					t.Fatalf("%v, %v", s.Elements[3], err)
				}
				time.Sleep(c.then)
				a.look(t, true)
			})
		})
	}
}

// TestSettled checks that an immediate third snapshot after two equal ones reads nothing, unless the app
// sends an event.
func TestSettled(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := newApp(1000)
		a.trusted()
		a.look(t, true)
		a.rename(1, "another")
		for range 3 {
			a.look(t, true)
		}
		assert.Check(t, is.Equal(a.read(), "1 whole, 2 in part"))
		a.true.names[1] = "told of late"
		a.MarkReported(func(m *treecache.DirtySet[int]) { m.AddChanged(1) })
		a.look(t, true)
	})
}

// TestConfirmed checks that two equal readings are confirmed only if the app was idle in between, and the
// first was not hasty.
func TestConfirmed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := newApp(1000)
		a.look(t, true)
		a.move(1, 1) // it runs without a change
		time.Sleep(time.Minute)
		assert.Check(t, is.Equal(a.read(), "3 whole, 0 in part"))
	})
	bubble(t, func(t *testing.T) {
		a := newApp(1000)
		a.trusted()
		a.look(t, true)
		a.NotifyAction()
		a.MarkReported(func(m *treecache.DirtySet[int]) { m.AddChanged(1) })
		a.look(t, true)
		time.Sleep(time.Minute)
		assert.Check(t, is.Equal(a.read(), "3 whole, 1 in part"))
	})
}

// TestSilentChange checks that a change without an event in a trusted app is found a second later.
func TestSilentChange(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := newApp(1000)
		a.trusted()
		a.look(t, true)
		time.Sleep(2 * time.Second)
		a.rename(1, "untold")
		a.untold = nil
		a.look(t, true)
	})
}

// TestNeverAtRest checks that an app without a heartbeat, or with parts of other processes, is read for
// each snapshot, and not endlessly in the background.
func TestNeverAtRest(t *testing.T) {
	for _, shared := range []bool{true, false} {
		bubble(t, func(t *testing.T) {
			a := newApp(10)
			a.shared, a.busy = shared, !shared
			a.look(t, true)
			time.Sleep(time.Minute)
			after := a.wholes
			assert.Check(t, after <= map[bool]int{true: 1, false: 6}[shared], "it was read %d times for one look, shared: %v", after, shared)
			for range 3 {
				a.look(t, true)
			}
			assert.Check(t, is.Equal(a.wholes, after+3), "it was read %d times for three looks, shared: %v", a.wholes-after, shared)
		})
	}
}

// TestParts checks that a large app with events is read partially; other apps, small ones, and ones with
// too many changes are read completely.
func TestParts(t *testing.T) {
	for name, c := range map[string]struct {
		elements int
		trusted  bool
		renames  int
		want     string
	}{
		"large and trusted":  {1000, true, 3, "1 whole, 1 in part"},
		"of another kind":    {1000, false, 3, "2 whole, 0 in part"},
		"small":              {400, true, 3, "2 whole, 0 in part"},
		"just large":         {401, true, 3, "1 whole, 1 in part"},
		"many changes":       {1000, true, 200, "1 whole, 1 in part"},
		"too many of them":   {1000, true, 201, "2 whole, 0 in part"},
		"nothing that tells": {1000, true, 0, "1 whole, 1 in part"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				a := newApp(c.elements)
				if c.trusted {
					a.trusted()
				}
				a.look(t, true)
				a.move(1, 77)
				for i := range c.renames {
					a.rename(i, "renamed")
				}
				a.look(t, true)
				assert.Check(t, is.Equal(a.read(), c.want))
			})
		})
	}
}

// TestAfterAnAct checks the snapshots after an action: the first one hastily reads the reported changes,
// the next ones read everything for a second, even without events. The background reading adds the omitted
// parts.
func TestAfterAnAct(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := newApp(1000)
		a.trusted()
		a.look(t, true)
		act := func(name string, place int) {
			a.rename(5, name)
			a.move(6, place)
			_ = a.Sync(t.Context(), nil) // it has sent its events
		}
		a.NotifyAction()
		act("element 5", 66)
		if s := a.look(t, false); s.Elements[6].Pos == 66 || a.read() != "1 whole, 1 in part" {
			t.Errorf("the first look was not hasty: %s", a.read())
		}
		a.look(t, true)
		act("pressed", 67)
		a.look(t, true)
		assert.Check(t, is.Equal(a.read(), "3 whole, 1 in part"))
		time.Sleep(3 * time.Second)
		a.NotifyAction()
		act("pressed again", 68)
		a.look(t, false)
		time.Sleep(100 * time.Millisecond)
		e, ok := a.Find("6")
		assert.Assert(t, ok, "what the hasty look left out is still %+v", e)
		assert.Equal(t, e.Pos, 68, "%+v", e)
		a.NotifyAction()
		time.Sleep(2 * time.Second)
		act("by itself", 69) // long after the action
		a.look(t, true)
	})
}

// TestPendingEffect checks an app that is slow to read: a caller that awaits an effect immediately sees the
// reported changes, and no other reading delays it; the next caller sees everything. An app that is quick
// to read is read completely.
func TestPendingEffect(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := newApp(1000)
		a.trusted()
		a.slow = 240 * time.Millisecond
		a.look(t, true)
		awaiting := desktop.WithPendingEffect(t.Context())
		a.NotifyAction()
		begun := time.Now()
		for n := range 4 { // silence, with events in between
			a.move(6, 60+n)
			if n == 2 {
				a.rename(5, "told")
			}
			s, err := a.Snapshot(awaiting)
			if err != nil || s.Elements[6].Pos != 6 || (s.Elements[5].Name == "told") != (n >= 2) {
				t.Errorf("look %d: %v, %+v, %+v", n, err, s.Elements[5], s.Elements[6])
			}
			time.Sleep(60 * time.Millisecond)
		}
		if took := time.Since(begun); took > 300*time.Millisecond || a.wholes != 1 {
			t.Errorf("it took %s, and was read %s", took, a.read())
		}
		a.look(t, true)
		a.slow = 0
		a.NotifyAction()
		a.look(t, true) // which was quick
		a.move(6, 99)
		if s, err := a.Snapshot(awaiting); err != nil || s.Elements[6].Pos != 99 {
			t.Errorf("an app that is quickly read: %v, %+v", err, s.Elements[6])
		}
	})
}

// TestChecked checks an app with checked trust: it is read partially at any size and age, also in the
// second after an action. It is read completely after half a minute, and for a second after a partial
// reading failed.
func TestChecked(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := newApp(10)
		a.checked()
		a.look(t, true)
		silent := func(name, want string) {
			t.Helper()
			a.rename(1, name)
			a.untold = nil
			a.look(t, true)
			assert.Check(t, is.Equal(a.read(), want), name)
		}
		a.busy = true // no readings in the background
		silent("at once", "1 whole, 1 in part")
		time.Sleep(20 * time.Second)
		a.wholes, a.parts = 0, 0
		silent("late", "0 whole, 1 in part")
		a.NotifyAction()
		silent("after an act", "0 whole, 2 in part")
		a.unsure = true
		silent("not sure", "1 whole, 3 in part")
		a.unsure = false
		silent("within a second", "2 whole, 3 in part")
		time.Sleep(time.Minute)
		a.wholes, a.parts = 0, 0
		silent("a minute later", "1 whole, 0 in part")
	})
}

// TestFaults checks that a failed reading returns its error, and that none of its changes are kept.
func TestFaults(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := newApp(1000)
		a.trusted()
		fault := errors.New("the app fell over")
		a.look(t, true)
		a.rename(1, "one")
		a.move(2, 22)
		a.fault = fault
		_, err := a.Snapshot(t.Context())
		assert.Check(t, is.ErrorIs(err, fault))
		a.look(t, true)
		assert.Check(t, is.Equal(a.read(), "2 whole, 1 in part"))
		a.rename(1, "uno")
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = a.Snapshot(cancelled)
		assert.Check(t, is.ErrorIs(err, context.Canceled))
		a.look(t, true)
		err = a.Forget(t.Context())
		assert.NilError(t, err)
		assert.Assert(t, a.Last() == nil, "forgetting: %v", err)
		a.look(t, true)
	})
}

// TestOneReaderAtATime checks that a caller that waits for another reading observes its own deadline.
func TestOneReaderAtATime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := newApp(10)
		err := a.WithReading(t.Context(), func(*reading) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := a.Snapshot(ctx)
			assert.Check(t, is.ErrorIs(err, context.DeadlineExceeded), "two read at once: %v", err)
		})
		assert.Check(t, err)
	})
}

// TestEnds checks that an ended app is no longer read.
func TestEnds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := newApp(10)
		a.look(t, true)
		a.Close()
		before := a.read()
		time.Sleep(time.Minute)
		assert.Check(t, is.Equal(a.read(), before))
	})
}

// TestConfirmCost checks that an app that is never idle is read again a few times in the background, a slow
// one fewer times, and an idle one only until it is confirmed.
func TestConfirmCost(t *testing.T) {
	for name, c := range map[string]struct {
		slow time.Duration
		busy bool
		want string
	}{
		"quick and busy": {10 * time.Millisecond, true, "6 whole, 0 in part"},
		"long and busy":  {150 * time.Millisecond, true, "3 whole, 0 in part"},
		"very long":      {300 * time.Millisecond, true, "2 whole, 0 in part"},
		"long, at rest":  {300 * time.Millisecond, false, "2 whole, 0 in part"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				a := newApp(3)
				a.slow, a.busy = c.slow, c.busy
				a.look(t, true)
				time.Sleep(time.Minute)
				assert.Check(t, is.Equal(a.read(), c.want))
			})
		})
	}
}
