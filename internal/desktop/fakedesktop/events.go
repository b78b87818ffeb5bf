package fakedesktop

import (
	"context"
	"slices"
	"time"

	"aai"
	"aai/internal/desktop"
)

// backlog is how many events wait for a slow reader.
const backlog = 64

// A watcher gets a program's events.
type watcher struct {
	events chan desktop.Event
	lost   bool // some were dropped since the last one that was not
}

// Watch delivers what happens in the program. One that hangs tells nothing.
func (b *backend) Watch(ctx context.Context, app desktop.App) (<-chan desktop.Event, error) {
	if err := over(ctx); err != nil {
		return nil, err
	}
	d := b.d
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.programs, func(p *Program) bool { return p.app.PID == app.PID })
	if i < 0 {
		return nil, refused(aai.AppNotRunning, "%s (process %d) has ended", app.Name, app.PID)
	}
	p := d.programs[i]
	w := &watcher{events: make(chan desktop.Event, backlog)}
	p.watchers = append(p.watchers, w)
	context.AfterFunc(ctx, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		p.watchers = slices.DeleteFunc(p.watchers, func(o *watcher) bool { return o == w })
		close(w.events)
	})
	return w.events, nil
}

// emit tells the watchers what happened. The desktop is locked.
func (p *Program) emit(kind desktop.EventKind, id desktop.ID, detail string) {
	e := desktop.Event{Kind: kind, ID: id, Detail: detail, At: time.Now()}
	for _, w := range p.watchers {
		w.send(e)
	}
}

// send keeps the last place for the news that events were lost. It is called by
// one at a time, so that there can only be more room than it sees.
func (w *watcher) send(e desktop.Event) {
	switch room := cap(w.events) - len(w.events); {
	case room > 1:
		w.lost = false
		w.events <- e
	case room == 1 && !w.lost:
		w.lost = true
		w.events <- desktop.Event{Kind: desktop.Lost, At: e.At}
	}
}
