package delta_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/delta"
	"github.com/gybob/aai-gateway/internal/testkit/snapshottest"
)

// shotAt returns a snapshot of a window with a clock and a list with rows, at a second.
func shotAt(second int, clock string, rows ...string) *desktop.Snapshot {
	s := &desktop.Snapshot{Version: uint64(second), Taken: time.Unix(int64(second), 0)}
	add := func(e desktop.Element) {
		e.States = desktop.Showing | desktop.Enabled
		e.End = len(s.Elements) + 1
		for p := e.Parent; p >= 0; p = s.Elements[p].Parent {
			s.Elements[p].End = e.End
		}
		s.Elements = append(s.Elements, e)
	}
	add(desktop.Element{ID: "window", Role: desktop.Window, Parent: -1})
	add(desktop.Element{ID: "clock", Role: desktop.Text, Name: clock, Parent: 0})
	add(desktop.Element{ID: "list", Role: desktop.List, Parent: 0})
	for _, row := range rows {
		add(desktop.Element{ID: desktop.ID("row " + row), Role: desktop.ListItem, Name: row, Parent: 2})
	}
	return s
}

func TestAmbientChanges(t *testing.T) {
	type look struct {
		shot  *desktop.Snapshot
		acted bool // the snapshot is taken when an action begins
	}
	tests := []struct {
		name        string
		looks       []look
		clock, list bool
	}{
		{"nothing known", nil, false, false},
		{"one look", []look{{shotAt(1, "a", "x"), false}}, false, false},
		{"nobody acted", []look{{shotAt(1, "a", "x"), false}, {shotAt(2, "b", "x"), false}}, true, false},
		{"an action", []look{{shotAt(1, "a", "x"), false}, {shotAt(2, "b", "x"), true}}, false, false},
		{"its late effect", []look{{shotAt(1, "a", "x"), true}, {shotAt(2, "b", "x"), false}}, false, false},
		{"twice soon after one", []look{{shotAt(1, "a"), true}, {shotAt(2, "b"), false}, {shotAt(3, "c"), false}}, true, false},
		{"once long after one", []look{{shotAt(1, "a"), true}, {shotAt(30, "b"), false}}, false, false},
		{"twice long after one", []look{{shotAt(1, "a"), true}, {shotAt(30, "b"), false}, {shotAt(60, "c"), false}}, true, false},
		{"very long after one", []look{{shotAt(1, "a"), true}, {shotAt(400, "b"), false}}, true, false},
		{"rows come", []look{{shotAt(1, "a", "x"), false}, {shotAt(2, "a", "x", "y"), false}}, false, true},
		{"rows go", []look{{shotAt(1, "a", "x", "y"), false}, {shotAt(2, "a", "x"), false}}, false, true},
		{"a row for a row", []look{{shotAt(1, "a", "x"), false}, {shotAt(2, "a", "y"), false}}, false, true},
		{"long ago", []look{{shotAt(1, "a"), false}, {shotAt(2, "b"), false}, {shotAt(1000, "b", "x"), false}}, false, true},
	}
	for _, test := range tests {
		var u delta.AmbientChanges
		for _, l := range test.looks {
			if l.acted {
				u.BeginAction(l.shot)
				u.EndAction(l.shot)
			} else {
				u.Observe(l.shot)
			}
		}
		if u.Has("clock", delta.Content) != test.clock || u.Has("list", delta.Content) != test.list || u.Has("window", delta.Content) {
			t.Errorf("%s: clock %v, list %v, window %v", test.name, u.Has("clock", delta.Content), u.Has("list", delta.Content), u.Has("window", delta.Content))
		}
	}
}

// TestAmbientChangesOfOneAspect checks that an element that loses the focus or is checked by itself is
// ambient only in these states, and not in its content or other states.
func TestAmbientChangesOfOneAspect(t *testing.T) {
	with := func(second int, clock string, states desktop.State) *desktop.Snapshot {
		s := shotAt(second, clock)
		s.Elements[1].States |= states
		return s
	}
	tests := []struct {
		name     string
		is       *desktop.Snapshot
		restless bool
	}{
		{"the same", with(3, "a", desktop.Checked), true},
		{"another state", with(3, "a", desktop.Selected), false},
		{"the same and another", with(3, "a", desktop.Checked|desktop.Selected), false},
		{"another word", with(3, "b", 0), false},
	}
	for _, test := range tests {
		var u delta.AmbientChanges
		u.Observe(with(1, "a", desktop.Focused|desktop.Checked))
		now := with(2, "a", 0)
		u.Observe(now)
		d := delta.Between(now, test.is, delta.Options{IsAmbient: u.Has})
		assert.Assert(t, is.Len(d.Changes, 1), test.name)
		assert.Equal(t, d.Changes[0].Ambient, test.restless, test.name)
	}
}

// A windowAt is a window in virtual time: it returns the label at a moment.
type windowAt func(now time.Duration) (label string)

// actOn simulates actions with snapshots, and actions without snapshots in between, at any speed.
func actOn(u *delta.AmbientChanges, window windowAt, acts []time.Duration, takes time.Duration, looks ...time.Duration) {
	shot := func(now time.Duration) *desktop.Snapshot {
		s := shotAt(0, window(now))
		s.Version = uint64(now)
		s.Taken = time.Unix(0, 0).Add(now)
		return s
	}
	for _, now := range slices.Sorted(slices.Values(slices.Concat(acts, looks))) {
		u.Observe(shot(now))
		if slices.Contains(acts, now) {
			u.BeginAction(shot(now))
			u.EndAction(shot(now + takes))
		}
	}
}

// every returns n moments.
func every(pause time.Duration, n int) (moments []time.Duration) {
	for i := range n {
		moments = append(moments, time.Duration(i+1)*pause)
	}
	return moments
}

// TestCounterIsNotAmbient checks that a label that only actions change is not ambient, for any frequency of
// actions and any delay of the effect.
func TestCounterIsNotAmbient(t *testing.T) {
	for _, pause := range []time.Duration{70 * time.Millisecond, 300 * time.Millisecond, time.Second, 4 * time.Second, 20 * time.Second} {
		for _, late := range []time.Duration{time.Millisecond, 30 * time.Millisecond, 200 * time.Millisecond, 1700 * time.Millisecond, 9 * time.Second, 25 * time.Second} {
			if late > 9*time.Second && pause < late/2 {
				continue // more than two are pending for longer than effectTime
			}
			for _, takes := range []time.Duration{10 * time.Millisecond, pause / 2} {
				acts := every(pause, 200)
				counter := func(now time.Duration) string {
					n := 0
					for _, at := range acts {
						if at+late <= now {
							n++
						}
					}
					return strconv.Itoa(n)
				}
				var looks []time.Duration
				for now := time.Duration(0); now < acts[len(acts)-1]+late+time.Minute; now += pause { // including the time after the last one
					looks = append(looks, now+pause*2/3, now+pause*5/6)
				}
				var u delta.AmbientChanges
				if actOn(&u, counter, acts, takes, looks...); u.Has("clock", delta.Content) {
					t.Errorf("an action each %s that takes %s: a counter that follows after %s is taken for a clock", pause, takes, late)
				}
				u = delta.AmbientChanges{}
				if actOn(&u, counter, acts, takes); u.Has("clock", delta.Content) {
					t.Errorf("nobody looks, an action each %s that takes %s: a counter that follows after %s is taken for a clock", pause, takes, late)
				}
			}
		}
	}
}

// TestCounterOfTwo checks that our own actions keep their observed effect if another user presses the same
// button between two snapshots.
func TestCounterOfTwo(t *testing.T) {
	acts := every(time.Second, 100)
	counter := func(now time.Duration) string {
		n := 0
		for _, at := range acts {
			if at+5*time.Millisecond <= now {
				n++
			}
			if at+500*time.Millisecond <= now {
				n++ // the other user
			}
		}
		return strconv.Itoa(n)
	}
	for _, still := range []time.Duration{200 * time.Millisecond, 250 * time.Millisecond} { // the first is just long enough
		var looks []time.Duration
		for _, at := range acts {
			looks = append(looks, at-still)
		}
		var u delta.AmbientChanges
		if actOn(&u, counter, acts, 10*time.Millisecond, looks...); u.Has("clock", delta.Content) {
			t.Errorf("a counter that two use is taken for a clock after %s", still)
		}
	}
}

// TestClockIsAmbient checks that a change without a cause is known as ambient after a few actions, with and
// without snapshots between them, although the actions have effects.
func TestClockIsAmbient(t *testing.T) {
	const takes = 450 * time.Millisecond // no other change was seen
	for _, ticks := range []time.Duration{50 * time.Millisecond, 300 * time.Millisecond, time.Second} {
		clock := func(now time.Duration) string { return strconv.Itoa(int(now / ticks)) }
		for _, pause := range []time.Duration{700 * time.Millisecond, 1100 * time.Millisecond, 2300 * time.Millisecond, 7300 * time.Millisecond} {
			if pause < ticks+takes {
				continue // then each action may be the cause
			}
			acts := every(pause, 12)
			var u delta.AmbientChanges
			if actOn(&u, clock, acts, takes); !u.Has("clock", delta.Content) {
				t.Errorf("a clock that ticks each %s is not known after 12 actions, one each %s", ticks, pause)
			}
			u = delta.AmbientChanges{}
			actOn(&u, clock, acts[:2], takes, acts[1]+pause/2, acts[1]+2*pause, acts[1]+4*pause)
			assert.Check(t, u.Has("clock", delta.Content), "a clock that ticks each %s is not known after 2 actions and three looks, one each %s", ticks, pause)
			u = delta.AmbientChanges{}
			if actOn(&u, clock, acts[2:], 10*time.Millisecond, 100*time.Millisecond, acts[1]); !u.Has("clock", delta.Content) {
				t.Errorf("a clock that ticks each %s is not known although nobody acted between two looks", ticks)
			}
		}
	}
}

// TestOldActionsExplainNothing checks that actions do not explain a log's changes for minutes.
func TestOldActionsExplainNothing(t *testing.T) {
	acts := every(2*time.Second, 100)
	log := func(now time.Duration) string {
		if now < 200*time.Second {
			return strconv.Itoa(int(now / (90 * time.Second))) // occasionally
		}
		return strconv.Itoa(int(now / time.Second))
	}
	var looks []time.Duration
	for i := range 8 {
		looks = append(looks, time.Duration(205+i)*time.Second)
	}
	var u delta.AmbientChanges
	if actOn(&u, log, acts, 10*time.Millisecond, looks...); !u.Has("clock", delta.Content) {
		t.Error("a log is not known after eight looks without an action")
	}
}

// TestAmbientChangesComeLast checks that known ambient changes are marked and follow all possible effects
// of the action.
func TestAmbientChangesComeLast(t *testing.T) {
	before, after := shotAt(1, "a", "x"), shotAt(2, "b", "x", "y")
	after.Elements[2].Name = "Messages"
	for _, restless := range []desktop.ID{"clock", "list", "window", "row y"} {
		d := delta.Between(before, after, delta.Options{IsAmbient: func(id desktop.ID, _ delta.Aspect) bool { return id == restless }})
		assert.Assert(t, is.Len(d.Changes, 3), "%q %q", restless, d.Text)
		rested := true
		for _, c := range d.Changes {
			assert.Check(t, c.Ambient || rested, "%q %q", restless, d.Text)
			rested = !c.Ambient
			want := restless == "clock" && c.Text == `~ text "a" → "b"` || restless == "list" && c.Text != `~ text "a" → "b"`
			assert.Check(t, is.Equal(c.Ambient, want), "%q %q", restless, c.Text)
		}
	}
}

// TestAnItemIsTakenApart checks that a change inside an item of an ambient list counts as ambient, even
// while the item itself still exists.
func TestAnItemIsTakenApart(t *testing.T) {
	const before = `
window "w"
  list "Messages"
    listitem
      text "message 1"
    listitem
      text "message 2"
  group
    text "done"
`
	const after = `
window "w"
  list "Messages"
    listitem
    listitem
      text "message 2"
  group
`
	was, is := snapshottest.Read(t, before), snapshottest.Read(t, after)
	list := is.Elements[1].ID
	d := delta.Between(was, is, delta.Options{IsAmbient: func(id desktop.ID, _ delta.Aspect) bool { return id == list }})
	for _, c := range d.Changes {
		if want := strings.Contains(c.Text, "message 1"); c.Ambient != want {
			t.Errorf("%q is restless: %t", c.Text, c.Ambient)
		}
	}
	if len(d.Changes) != 2 {
		t.Errorf("%q", d.Text)
	}
}
