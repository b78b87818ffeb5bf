package treecache_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
)

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
