package treecache_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"

	"pgregory.net/rapid"
)

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
