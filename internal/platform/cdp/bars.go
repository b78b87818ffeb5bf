package cdp

import (
	"context"
	"sync"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// bars are the browser's own parts of its windows, as the platform reads them. Each request to a page makes the browser
// work, after which the platform reads everything anew. So a reading is used again until an event comes. It is safe for
// concurrent use.
type bars struct {
	ended <-chan struct{} // closed when the connection has ended

	mu       sync.Mutex
	watching bool
	changes  int // events so far
	last     *desktop.Snapshot
	at       int // changes before the last reading
}

// maxAge is the age at which the bars are read again without an event: some changes are not reported.
const maxAge = time.Second

// read returns the platform's snapshot of the browser.
func (b *bars) read(
	ctx context.Context, app desktop.App, events desktop.Events, below func(context.Context, desktop.App) (*desktop.Snapshot, error),
) (*desktop.Snapshot, error) {
	b.mu.Lock()
	begun, last, at, watching := b.changes, b.last, b.at, b.watching
	b.mu.Unlock()
	if !watching {
		b.watch(app, events)
	} else if last != nil && at == begun && time.Since(last.Taken) < maxAge {
		return last, nil
	}
	s, err := below(ctx, app)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last, b.at = s, begun
	return s, nil
}

// watch counts the events of the browser until the connection ends.
func (b *bars) watch(app desktop.App, events desktop.Events) {
	if events == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	reports, err := events.Watch(ctx, app)
	if err != nil {
		cancel()
		return
	}
	b.mu.Lock()
	b.watching = true
	b.mu.Unlock()
	go func() {
		defer cancel()
		for {
			select {
			case event, open := <-reports:
				b.mu.Lock()
				if !open {
					b.watching = false
				} else if !isWithinPage(b.last, event) {
					b.changes++
				}
				b.mu.Unlock()
				if !open {
					return
				}
			case <-b.ended:
				return
			}
		}
	}()
}

// isWithinPage reports whether the event is one of a part of a page, or of the focus of a page, as DevTools read them.
func isWithinPage(s *desktop.Snapshot, event desktop.Event) bool {
	if s == nil || event.ID == "" {
		return false
	}
	i := s.Index(event.ID)
	if i >= 0 && (event.Kind != desktop.StateChanged || event.Detail != "focused") {
		i = s.Elements[i].Parent
	}
	for i >= 0 && s.Elements[i].Role != desktop.Document {
		i = s.Elements[i].Parent
	}
	return i >= 0
}
