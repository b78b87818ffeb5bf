package desktop

import (
	"context"
	"sync"
	"time"
)

// Reads measures the use of accessibility by one call. It is safe for concurrent use.
type Reads struct {
	// OnElements is called with the number of elements of a tree that are read so far. Nil: not called.
	OnElements func(n int)

	mu                   sync.Mutex
	took                 time.Duration
	snapshots, unchanged int
}

type readsKey struct{}

// WithReads returns a context that measures calls of the backend in r.
func WithReads(ctx context.Context, r *Reads) context.Context {
	return context.WithValue(ctx, readsKey{}, r)
}

// ReadsOf returns the Reads of the context, or a new one.
func ReadsOf(ctx context.Context) *Reads {
	if r, ok := ctx.Value(readsKey{}).(*Reads); ok {
		return r
	}
	return new(Reads)
}

// AddTime adds the time that the backend has worked since begun.
func (r *Reads) AddTime(begun time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.took += time.Since(begun)
}

// AddSnapshot counts a snapshot. unchanged means that no part of it had to be read from the app.
func (r *Reads) AddSnapshot(unchanged bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.snapshots++
	if unchanged {
		r.unchanged++
	}
}

// AddElements reports the number of elements read so far.
func (r *Reads) AddElements(n int) {
	if r.OnElements != nil {
		r.OnElements(n)
	}
}

// Took returns the time that the backend has worked.
func (r *Reads) Took() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.took
}

// Cached reports whether all snapshots were unchanged; known is false without snapshots.
func (r *Reads) Cached() (cached, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.unchanged == r.snapshots, r.snapshots > 0
}
