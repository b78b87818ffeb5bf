//go:build linux

package atspi_test

import (
	"context"
	"math"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/desktoptest"
	"github.com/gybob/aai-gateway/internal/platform/linux/atspi"

	"github.com/godbus/dbus/v5"
)

// A lie is one kind of invalid answer. The resulting tree must be well-formed with elements many elements,
// or the call must fail with the code.
type lie struct {
	name     string
	tell     func(l *liar, path, member string, m *dbus.Message) ([]any, bool)
	elements int // at most; 0 if only code matters
	code     aai.Code
}

// always returns the same answer for one member, for every object.
func always(member string, answer func(l *liar, path string) []any) func(*liar, string, string, *dbus.Message) ([]any, bool) {
	return func(l *liar, path, asked string, _ *dbus.Message) ([]any, bool) {
		if asked != member {
			return nil, false
		}
		return answer(l, path), true
	}
}

// swarm returns a tree in which every node has n children, endlessly.
func swarm(n int) func(*liar, string, string, *dbus.Message) ([]any, bool) {
	return func(l *liar, path, member string, _ *dbus.Message) ([]any, bool) {
		switch {
		case path == liarRoot:
			return nil, false
		case member == "ChildCount":
			return variant(int32(n)), true
		case member == "GetChildren":
			var paths []string
			for i := range n {
				paths = append(paths, child(path, i))
			}
			return l.refs(paths...), true
		}
		return nil, false
	}
}

func lies() []lie {
	const most = 20_000
	both := func(a, b func(*liar, string, string, *dbus.Message) ([]any, bool)) func(*liar, string, string, *dbus.Message) ([]any, bool) {
		return func(l *liar, path, member string, m *dbus.Message) ([]any, bool) {
			if answer, lied := a(l, path, member, m); lied {
				return answer, true
			}
			return b(l, path, member, m)
		}
	}
	count := func(n int32) func(*liar, string, string, *dbus.Message) ([]any, bool) {
		return always("ChildCount", func(_ *liar, path string) []any {
			if path == liarRoot {
				return variant(int32(1))
			}
			return variant(n)
		})
	}
	return []lie{
		{"the truth", func(*liar, string, string, *dbus.Message) ([]any, bool) { return nil, false }, 2, ""},
		{"a ring", both(count(3), always("GetChildren", func(l *liar, _ string) []any { return l.refs(liarRoot, liarWindow, liarButton) })), 3, ""},
		{"itself as its child", both(count(1), always("GetChildren", func(l *liar, path string) []any { return l.refs(path) })), 2, ""},
		{"a negative count", count(-7), 2, ""},
		{"two thousand million children", both(count(math.MaxInt32), swarm(3)), 2, ""},
		{"children that are all the same", both(count(1000), always("GetChildren", func(l *liar, path string) []any {
			if path == liarRoot {
				return l.refs(liarWindow)
			}
			return l.refs(strings.Split(strings.Repeat(liarButton+" ", 1000)+liarButton, " ")...)
		})), 3, ""},
		{"a chain without end", swarm(1), 1000, ""},
		{"a list that is too long", both(always("GetApplicationBusAddress", func(*liar, string) []any { return []any{""} }),
			always("GetItems", func(l *liar, _ string) []any { return items(l, 25_000, func(int) string { return liarWindow }) })), most, ""},
		{"names that are numbers", always("Name", func(*liar, string) []any { return variant(int32(7)) }), 2, ""},
		{"names as plain strings", always("Name", func(*liar, string) []any { return []any{"bare"} }), 2, ""},
		{"names of ten megabytes", both(always("Name", func(*liar, string) []any { return variant(strings.Repeat("ä", 5<<20)) }), wide(12)), 14, ""},
		{"roles that are strings", always("GetRole", func(*liar, string) []any { return []any{"push button"} }), 2, ""},
		{"roles that there are not", always("GetRole", func(*liar, string) []any { return []any{uint32(math.MaxUint32)} }), 2, ""},
		{"no states", always("GetState", func(*liar, string) []any { return []any{[]uint32{}} }), 2, ""},
		{"many states", always("GetState", func(*liar, string) []any { return []any{[]uint32{math.MaxUint32, math.MaxUint32, 1, 2}} }), 2, ""},
		{"extents beyond all bounds", always("GetExtents", func(*liar, string) []any {
			return []any{struct{ X, Y, W, H int32 }{math.MaxInt32, math.MinInt32, math.MaxInt32, -1}}
		}), 2, ""},
		{"two thousand million actions", always("NActions", func(*liar, string) []any { return variant(int32(math.MaxInt32)) }), 2, ""},
		{"only errors", func(*liar, string, string, *dbus.Message) ([]any, bool) { return []any{}, true }, 1, ""},
		{"nothing", func(*liar, string, string, *dbus.Message) ([]any, bool) { return silence(), true }, 0, aai.Timeout},
		{"no names", always("Name", func(*liar, string) []any { return silence() }), 0, aai.Timeout},
		{"a list of nonsense", always("GetItems", func(l *liar, _ string) []any {
			return items(l, 2500, func(n int) string { return child(liarWindow, n*7%2500) })
		}), 2, ""},
	}
}

// wide returns a window with n buttons.
func wide(n int) func(*liar, string, string, *dbus.Message) ([]any, bool) {
	return func(l *liar, path, member string, m *dbus.Message) ([]any, bool) {
		if path != liarWindow {
			return nil, false
		}
		return swarm(n)(l, path, member, m)
	}
}

// items returns a list of count objects, each inside another one, at impossible positions.
func items(l *liar, count int, parent func(n int) string) []any {
	type item struct {
		Self, App, Parent objectRef
		Index, Count      int32
		Interfaces        []string
		Name              string
		Role              uint32
		Description       string
		States            []uint32
	}
	app, list := objectRef{l.name, liarRoot}, make([]item, count)
	for n := range list {
		list[n] = item{objectRef{l.name, dbus.ObjectPath(child(liarWindow, n))}, app, objectRef{l.name, dbus.ObjectPath(parent(n))},
			int32(-n), math.MaxInt32, []string{"x"}, "n", 43, "", []uint32{1 << 25}}
	}
	list[0].Self, list[0].Parent = objectRef{l.name, liarWindow}, app
	return []any{list}
}

// TestLiars checks that an app with invalid answers costs a call at most its deadline and bounded memory,
// and results in a well-formed tree.
func TestLiars(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, lie := range lies() {
		t.Run(lie.name, func(t *testing.T) {
			l := w.liar(t, lie.tell)
			limit := patience
			if lie.code != "" {
				limit = 300 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			s, err := w.bus.Snapshot(ctx, l.app)
			c, _ := code(err)
			assert.Equal(t, c, lie.code, err)
			if err != nil {
				return
			}
			desktoptest.WellFormed(t, s)
			for _, e := range s.Elements {
				assert.Check(t, len(e.Name) <= 4096, "a name has %d bytes", len(e.Name))
			}
			assert.Check(t, len(s.Elements) <= lie.elements, "the snapshot has %d elements", len(s.Elements))
			for i := 0; i < len(s.Elements); i += 1 + len(s.Elements)/5 {
				_, _ = w.bus.Read(ctx, l.app, s.Elements[i].ID) // it must only return
				_, _ = w.bus.Children(ctx, l.app, s.Elements[i].ID, 0, 10)
			}
			assert.Check(t, ctx.Err(), "reading went on until the deadline")
		})
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	assert.Check(t, m.HeapAlloc <= 256<<20, "%d MB are kept", m.HeapAlloc>>20)
}

// TestNoListOfWhatHasGone checks that LibreOffice is never queried for the list of all objects, because it
// crashes if some were deleted, and that its tree is still complete.
func TestNoListOfWhatHasGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, asks := range map[string]bool{"soffice": false, "office": true} {
		var asked atomic.Bool
		l := w.liar(t, func(_ *liar, path, member string, _ *dbus.Message) ([]any, bool) {
			if member == "GetItems" {
				asked.Store(true)
			}
			if path == liarRoot && member == "Name" {
				return variant(name), true
			}
			return nil, false
		})
		for range 2 {
			s, err := w.bus.Snapshot(t.Context(), l.app)
			assert.NilError(t, err, "%s %v", name, s)
			assert.Assert(t, is.Len(s.Elements, 2), "%s %v", name, s)
			assert.NilError(t, atspi.Forget(t.Context(), w.bus, l.app))
		}
		assert.Check(t, is.Equal(asked.Load(), asks), "%s was asked for its list: %v", name, !asks)
	}
}

// TestBrokenText checks that invalid UTF-8 is not passed on. A bus disconnects its sender, so the app sends
// it over its own socket.
func TestBrokenText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file := filepath.Join(t.TempDir(), "peer")
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", file)
	assert.NilError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	l := w.liar(t, always("GetApplicationBusAddress", func(*liar, string) []any { return []any{"unix:path=" + file} }))
	broken := make(chan int, 1)
	go l.servePeer(listener, broken)
	s := w.snapshot(t, l.app)
	desktoptest.WellFormed(t, s)
	assert.Check(t, is.Len(s.Elements, 2), "the snapshot has %d elements", len(s.Elements))
	w.bus.Close()
	assert.Check(t, <-broken != 0, "nothing broken was sent")
}

// TestForeignObjects checks that another process's object in an app's window is included only if both
// processes confirm it. An app must not present parts of another app as its own.
func TestForeignObjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var host *liar
	for _, welcome := range []bool{true, false} {
		guest := w.liar(t, func(_ *liar, path, member string, _ *dbus.Message) ([]any, bool) {
			if path == liarWindow && member == "Parent" && welcome {
				return variant(objectRef{host.name, liarWindow}), true
			}
			return nil, false
		})
		host = w.liar(t, func(_ *liar, path, member string, _ *dbus.Message) ([]any, bool) {
			switch {
			case path != liarWindow:
				return nil, false
			case member == "GetChildren":
				return []any{[]objectRef{{guest.name, liarWindow}}}, true
			}
			return nil, false
		})
		s := w.snapshot(t, host.app)
		id := desktop.ID(guest.name + liarButton)
		if shown := s.Index(id) >= 0; shown != welcome {
			t.Errorf("welcome: %v, shown: %v, %d elements", welcome, shown, len(s.Elements))
		}
		_, err := w.bus.Read(t.Context(), host.app, id)
		c, _ := code(err)
		assert.Check(t, !welcome || c == "", "welcome: %v, reading it: %v", welcome, err)
		assert.Check(t, welcome || c == aai.StaleRef, "welcome: %v, reading it: %v", welcome, err)
	}
}
