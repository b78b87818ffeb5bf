package treecache

import (
	"context"
	"sync"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// watchBuffer is how many events may wait for a slow reader.
const watchBuffer = 256

// Broadcaster are the readers of one app's events. The zero value is ready; it is safe for
// concurrent use, and none of its methods waits for a reader.
type Broadcaster struct {
	mu     sync.Mutex
	all    map[*watcher]struct{}
	closed bool // the app has ended
}

// A watcher is one reader.
type watcher struct {
	events chan desktop.Event
	lost   bool // what was delivered last says that events were dropped
}

// Watch delivers what is told from now until the context ends, as [desktop.Events] has
// it. It reports false, and delivers nothing, if the app has ended.
func (w *Broadcaster) Watch(ctx context.Context) (<-chan desktop.Event, bool) {
	reader := &watcher{events: make(chan desktop.Event, watchBuffer)}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
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

// Send hands the event to all readers.
func (w *Broadcaster) Send(e desktop.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	for reader := range w.all {
		reader.deliver(e)
	}
}

// Close tells all readers that no more will come, because the app has ended.
func (w *Broadcaster) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.closed = true
	for reader := range w.all {
		reader.finish()
	}
}

// IsClosed reports whether the app has ended.
func (w *Broadcaster) IsClosed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed
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
