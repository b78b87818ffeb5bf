package mirror

import (
	"context"
	"sync"
	"time"

	"aai/internal/desktop"
)

// watchRoom is how many events may wait for a slow reader.
const watchRoom = 256

// Watchers are the readers of one app's events. The zero value is ready; it is safe for
// concurrent use, and none of its methods waits for a reader.
type Watchers struct {
	mu   sync.Mutex
	all  map[*watcher]struct{}
	over bool // the app has ended
}

// A watcher is one reader.
type watcher struct {
	events chan desktop.Event
	lost   bool // what was delivered last says that events were dropped
}

// Watch delivers what is told from now until the context ends, as [desktop.Events] has
// it. It reports false, and delivers nothing, if the app has ended.
func (w *Watchers) Watch(ctx context.Context) (<-chan desktop.Event, bool) {
	reader := &watcher{events: make(chan desktop.Event, watchRoom)}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return nil, false
	}
	if w.all == nil {
		w.all = map[*watcher]struct{}{}
	}
	w.all[reader] = struct{}{}
	context.AfterFunc(ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.all, reader)
		close(reader.events)
	})
	return reader.events, true
}

// Tell hands the event to all readers.
func (w *Watchers) Tell(e desktop.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	for reader := range w.all {
		reader.deliver(e)
	}
}

// End tells all readers that no more will come, because the app has ended.
func (w *Watchers) End() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	w.over = true
	for reader := range w.all {
		reader.finish()
	}
}

// Over reports whether the app has ended.
func (w *Watchers) Over() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.over
}

// deliver keeps the last place for the news that events were lost. It is called by one at
// a time, so there can only be more room than it sees.
func (r *watcher) deliver(e desktop.Event) {
	switch room := cap(r.events) - len(r.events); {
	case room > 1:
		r.lost = false
		r.events <- e
	case room == 1 && !r.lost:
		r.lost = true
		r.events <- desktop.Event{Kind: desktop.Lost, At: e.At}
	}
}

// finish delivers the last event, unless the one that waits last says as much.
func (r *watcher) finish() {
	if len(r.events) < cap(r.events) {
		r.events <- desktop.Event{Kind: desktop.Lost, At: time.Now()}
	}
}
