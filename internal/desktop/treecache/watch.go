package treecache

import (
	"context"
	"sync"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// watchBuffer is the number of events that may wait for a slow reader.
const watchBuffer = 256

// A Broadcaster distributes one app's events to watchers. The zero value is ready; it is safe for
// concurrent use, and no method waits for a watcher.
type Broadcaster struct {
	mu     sync.Mutex
	all    map[*watcher]struct{}
	closed bool // the app has ended
}

// A watcher is one reader of events.
type watcher struct {
	events chan desktop.Event
	lost   bool // the last delivered event reports lost events
}

// Watch delivers events from now until the context ends, as specified by [desktop.Events]. It returns
// false, and delivers nothing, if the app has ended.
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

// Send sends the event to all watchers.
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

// Close closes all watchers because the app has ended.
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

// deliver reserves the last slot for the event that reports lost events. It is not called concurrently, so
// the real free space is never smaller than it sees.
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

// finish delivers a last event of the kind Lost, unless the buffer is full: then its last event is one already.
func (r *watcher) finish() {
	if len(r.events) < cap(r.events) {
		r.events <- desktop.Event{Kind: desktop.Lost, At: time.Now()}
	}
}
