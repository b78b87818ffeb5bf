package gui

import (
	"context"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// elementsInterval is the minimum time between two progress messages about read elements.
const elementsInterval = 300 * time.Millisecond

// withMeasurements returns a context that measures the use of accessibility by the call, and the function that
// reports it to the door at the end. With readsTree it also reports the number of elements read so far.
func withMeasurements(ctx context.Context, readsTree bool) (_ context.Context, end func()) {
	r := new(desktop.Reads)
	if readsTree {
		r.OnElements = elementsProgress(ctx)
	}
	return desktop.WithReads(ctx, r), func() {
		if took := r.Took(); took > 0 {
			gateway.Measure(ctx, "ax_duration_ms", float64(took.Microseconds())/1000)
		}
		if cached, known := r.Cached(); known {
			gateway.Measure(ctx, "cache_hit", cached)
		}
	}
}

// elementsProgress returns a function that reports the number of elements read so far, not more often than every
// elementsInterval.
func elementsProgress(ctx context.Context) func(n int) {
	var mu sync.Mutex
	last := time.Now()
	return func(n int) {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(last) >= elementsInterval {
			last = time.Now()
			reportElements(ctx, n)
		}
	}
}

func reportElements(ctx context.Context, n int) {
	gateway.Progress(ctx, float64(n), 0, "Processing "+aai.Count(n, "element"))
}

// measured returns the backend with its tree and its actor measured by [desktop.Reads].
func measured(b desktop.Backend) desktop.Backend {
	if b.Tree != nil {
		b.Tree = measuredTree{b.Tree}
	}
	if b.Offscreen != nil {
		b.Offscreen = measuredOffscreen{b.Offscreen}
	}
	if b.Actor != nil {
		b.Actor = measuredActor{b.Actor}
	}
	return b
}

type measuredTree struct{ desktop.Tree }

// Apps implements desktop.Tree.
func (t measuredTree) Apps(ctx context.Context) ([]desktop.App, error) {
	defer desktop.ReadsOf(ctx).AddTime(time.Now())
	return t.Tree.Apps(ctx)
}

// Snapshot implements desktop.Tree.
func (t measuredTree) Snapshot(ctx context.Context, app desktop.App) (*desktop.Snapshot, error) {
	defer desktop.ReadsOf(ctx).AddTime(time.Now())
	return t.Tree.Snapshot(ctx, app)
}

// Read implements desktop.Tree.
func (t measuredTree) Read(ctx context.Context, app desktop.App, id desktop.ID) (desktop.Element, error) {
	defer desktop.ReadsOf(ctx).AddTime(time.Now())
	return t.Tree.Read(ctx, app, id)
}

// Children implements desktop.Tree.
func (t measuredTree) Children(ctx context.Context, app desktop.App, id desktop.ID, first, count int) ([]desktop.Element, error) {
	defer desktop.ReadsOf(ctx).AddTime(time.Now())
	return t.Tree.Children(ctx, app, id, first, count)
}

type measuredOffscreen struct{ desktop.OffscreenTree }

// SnapshotOffscreen implements desktop.OffscreenTree.
func (t measuredOffscreen) SnapshotOffscreen(ctx context.Context, app desktop.App) (*desktop.Snapshot, error) {
	defer desktop.ReadsOf(ctx).AddTime(time.Now())
	return t.OffscreenTree.SnapshotOffscreen(ctx, app)
}

// SnapshotCells implements desktop.OffscreenTree.
func (t measuredOffscreen) SnapshotCells(ctx context.Context, app desktop.App, table desktop.ID, cells desktop.Cells) (*desktop.Snapshot, error) {
	defer desktop.ReadsOf(ctx).AddTime(time.Now())
	return t.OffscreenTree.SnapshotCells(ctx, app, table, cells)
}

type measuredActor struct{ desktop.Actor }

// Execute implements desktop.Actor.
func (a measuredActor) Execute(ctx context.Context, app desktop.App, id desktop.ID, act desktop.Act) error {
	defer desktop.ReadsOf(ctx).AddTime(time.Now())
	return a.Actor.Execute(ctx, app, id, act)
}
