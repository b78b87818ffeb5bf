//go:build linux

package atspi_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/atspi"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"

	"github.com/google/go-cmp/cmp"
)

// TestBusCacheIsConsistent checks that a Bus with a cache returns the same as one that reads everything for
// the first time, after any changes by others.
func TestBusCacheIsConsistent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			f, app := w.fixture(t, kind)
			w.shows(t, app, desktop.Button, "Press")
			other := atspi.New(atspi.Config{Getenv: w.Getenv, Windows: w.windows})
			t.Cleanup(other.Close)
			random := rand.New(rand.NewPCG(1, 2))
			for round := range 6 {
				change(t, w, other, f, app, random, round)
				sameAsFresh(t, w, app)
			}
		})
	}
}

// change makes a random change, and waits until the fixture confirms it.
func change(t *testing.T, w *world, other *atspi.Bus, f *linuxtest.Fixture, app desktop.App, random *rand.Rand, round int) {
	t.Helper()
	do := func(role desktop.Role, name string, act desktop.Act) {
		t.Helper()
		s, err := other.Snapshot(t.Context(), app)
		assert.NilError(t, err)
		assert.NilError(t, other.Execute(t.Context(), app, find(t, s, role, name).ID, act))
	}
	state := f.State(t)
	switch n := random.IntN(4); n {
	case 0:
		do(desktop.Button, "Press", desktop.Act{Verb: desktop.Press})
		f.WaitState(t, "presses", state["presses"].(float64)+1)
	case 1:
		do(desktop.Slider, "Volume", desktop.Act{Verb: desktop.SetNumber, Number: float64(round * 5)})
		f.WaitState(t, "volume", round*5)
	case 2:
		do(desktop.Button, "Shuffle", desktop.Act{Verb: desktop.Press})
		f.WaitState(t, "shuffled", state["shuffled"].(float64)+1)
	case 3:
		tab := []string{"First", "Second"}[round%2]
		do(desktop.Tab, tab, desktop.Act{Verb: desktop.SelectItem})
		f.WaitState(t, "tab", tab)
	}
}

// sameAsFresh compares the two. Apps continue for a moment after a change, so equality may need some
// snapshots, but must come before the cache expires.
func sameAsFresh(t *testing.T, w *world, app desktop.App) {
	t.Helper()
	var difference string
	const limit = 1500 * time.Millisecond
	if within(limit, func() bool {
		kept := w.snapshot(t, app)
		fresh := atspi.New(atspi.Config{Getenv: w.Getenv, Windows: w.windows})
		defer fresh.Close()
		s, err := fresh.Snapshot(t.Context(), app)
		assert.NilError(t, err)
		difference = cmp.Diff(s.Elements, kept.Elements)
		return difference == ""
	}) {
		return
	}
	t.Fatalf("what was kept differs from what is (-is +kept):\n%s", difference)
}

// TestWarmSnapshots checks that a snapshot without changes is the same with the same version, and that a
// change results in another version.
func TestWarmSnapshots(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			_, app := w.fixture(t, kind)
			w.shows(t, app, desktop.Button, "Press")
			var first *desktop.Snapshot
			eventually(t, "the app is at rest", func() bool {
				first = w.snapshot(t, app)
				time.Sleep(50 * time.Millisecond)
				return w.snapshot(t, app).Version == first.Version
			})
			deadline := time.Now().Add(700 * time.Millisecond) // longer than the maximum age of frames
			for time.Now().Before(deadline) {
				s := w.snapshot(t, app)
				if s.Version != first.Version {
					t.Fatalf("the version changed from %d to %d:\n%s", first.Version, s.Version, cmp.Diff(first.Elements, s.Elements))
				}
				assert.Assert(t, s.Taken.After(first.Taken), "the snapshot was taken before it was asked for")
			}
			w.perform(t, app, find(t, first, desktop.Slider, "Volume"), desktop.Act{Verb: desktop.SetNumber, Number: 55})
			s := w.await(t, app, "the slider moved", func(s *desktop.Snapshot) bool { return find(t, s, desktop.Slider, "Volume").Value == "55" })
			assert.Check(t, s.Version != first.Version, "another state has the same version")
			assert.Check(t, find(t, first, desktop.Slider, "Volume").Value != "55", "a snapshot changed after it was made")
		})
	}
}

// TestHeaders checks that a Qt tree view is queried for its children only once, because each query creates
// and leaks an object per header.
func TestHeaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := w.app(t, w.Launch(t, "/usr/lib/qt6/bin/designer"))
	w.awaitIdle(t, app)
	first := w.snapshot(t, app)
	if _, err := w.bus.Read(t.Context(), app, first.Elements[0].ID); err != nil {
		t.Fatal(err) // it has to run for this, so everything is read again
	}
	last := w.snapshot(t, app)
	headings := 0
	for i, e := range first.Elements {
		if e.Role == desktop.ColumnHeader {
			headings++
			assert.Check(t, is.Equal(last.Index(e.ID), i), "the heading %q is another element now", e.Name)
		}
	}
	assert.Check(t, headings != 0, "there are no headings")
}
