package atspi_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// gtk4 returns a liar that behaves like GTK 4: it lists its objects and has no socket. more adds other
// behaviour.
func gtk4(more func(l *liar, path, member string, m *dbus.Message) ([]any, bool)) func(*liar, string, string, *dbus.Message) ([]any, bool) {
	return func(l *liar, path, member string, m *dbus.Message) ([]any, bool) {
		if answer, lied := more(l, path, member, m); lied {
			return answer, true
		}
		switch member {
		case "ToolkitName":
			return variant("GTK"), true
		case "Version":
			return variant("4.8.3"), true
		case "GetItems":
			return items(l, 1, func(int) string { return liarRoot }), true
		}
		return nil, false
	}
}

// TestWalkedOnce checks that GTK 4 is walked a second time only if it counts more children than it lists,
// as for objects that it has not created yet.
func TestWalkedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, unmade := range []bool{false, true} {
		var lists, looks atomic.Int32
		l := w.liar(t, gtk4(func(l *liar, path, member string, _ *dbus.Message) ([]any, bool) {
			switch {
			case member == "GetItems":
				lists.Add(1)
			case unmade && member == "GetChildren" && path == liarWindow && looks.Add(1) == 1:
				return l.refs("/org/a11y/atspi/null"), true
			}
			return nil, false
		}))
		s, err := w.bus.Snapshot(t.Context(), l.app)
		assert.NilError(t, err, "%v %v", unmade, s)
		assert.Assert(t, is.Len(s.Elements, 2), "%v %v", unmade, s)
		assert.Check(t, is.Equal(lists.Load() > 2, unmade), "not made yet %v: listed %d times", unmade, lists.Load())
	}
}

// TestAskedAtOnce checks that the children of nodes that GTK 4 showed in the last reading are queried
// without waiting for the parents' answers.
func TestAskedAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var again atomic.Bool
	var held *dbus.Message
	asked := false // whether the window, which may come first, was queried
	l := w.liar(t, gtk4(func(l *liar, path, member string, m *dbus.Message) ([]any, bool) {
		switch {
		case !again.Load() || member != "GetChildren":
		case path == liarRoot && !asked:
			held = m
			return silence(), true
		case path == liarWindow && held != nil:
			l.conn.Send(reply(held, l.refs(liarWindow)), nil)
			again.Store(false)
		case path == liarWindow:
			asked = true
		}
		return nil, false
	}))
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		s, err := w.bus.Snapshot(ctx, l.app)
		cancel()
		if err != nil || len(s.Elements) != 2 {
			t.Fatalf("asked again %v: %v, %v", again.Load(), s, err)
		}
		again.Store(true)
	}
}
