package treecache_test

import (
	"testing"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// TestReads checks that a snapshot for which nothing was read from the app counts as cached.
func TestReads(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := newApp(1000)
		a.trusted()
		for n, want := range []bool{false, false, true} {
			r := new(desktop.Reads)
			if _, err := a.Snapshot(desktop.WithReads(t.Context(), r)); err != nil {
				t.Fatal(err)
			}
			if cached, known := r.Cached(); cached != want || !known {
				t.Errorf("snapshot %d: cached is %v, known %v", n, cached, known)
			}
		}
		if _, known := new(desktop.Reads).Cached(); known {
			t.Error("no snapshot, and it is known whether it was cached")
		}
	})
}
