package refs

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/snapshottest"
)

// TestMemoryIsBounded simulates an app that repeatedly recreates very many elements.
func TestMemoryIsBounded(t *testing.T) {
	r := New()
	const size, rounds = 6000, 40
	first := ""
	for round := range rounds {
		s := &desktop.Snapshot{Elements: make([]desktop.Element, size)}
		for i := range s.Elements {
			id := fmt.Sprintf("%d-%d", round, i)
			s.Elements[i] = desktop.Element{ID: desktop.ID(id), Role: desktop.Button, Name: id, Parent: -1, States: desktop.Showing}
		}
		desktop.SetEnds(s.Elements)
		for i := range s.Elements {
			ref := r.Ref(s, i)
			if first == "" {
				first = ref
			}
		}
		if round == rounds-1 {
			e := staleError(t, r, s, first)
			assert.Check(t, is.Contains(e.Message, "long ago"))
			got := r.Ref(s, 0)
			assert.Check(t, is.Equal(got, refText((rounds-1)*size+1)), "a number was used again: %s", got)
		}
		most := (keepSnapshots + 2) * size * 2
		assert.Assert(t, len(r.given)+len(r.gone) <= max(most, maxTracks), "after %d rounds it holds %d refs, %d that are gone and %d views", round, len(r.given), len(r.gone), len(r.views))
		assert.Assert(t, len(r.views) <= maxViews, "after %d rounds it holds %d refs, %d that are gone and %d views", round, len(r.given), len(r.gone), len(r.views))
	}
}

// TestConcurrentUse is for the race detector.
func TestConcurrentUse(t *testing.T) {
	r := New()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			s := snapshottest.Read(t, "window \"A\" key=1\n  button \"x\" key=2\n  row \"y\" key=3")
			for range 50 {
				for i := range s.Elements {
					if got, err := r.Resolve(s, r.Ref(s, i)); err != nil || got != i {
						t.Errorf("%d is %d, %v", i, got, err)
					}
				}
			}
		})
	}
	all.Wait()
	assert.Check(t, is.Equal(r.last, 3), "%d refs were given for 3 elements", r.last)
}

// BenchmarkTable assigns refs to 10,000 recreated elements.
func BenchmarkTable(b *testing.B) {
	r := New()
	s := snapshottest.Many(10_000)
	round := 0
	for b.Loop() {
		round++
		next := &desktop.Snapshot{Elements: slices.Clone(s.Elements)}
		for i := range next.Elements {
			next.Elements[i].ID = desktop.ID(fmt.Sprint(round%2, "-", i))
		}
		for i := range next.Elements {
			r.Ref(next, i)
		}
	}
}
