package fakedesktop

import (
	"context"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// Watch delivers the program's events. A hanging program emits none.
func (b *backend) Watch(ctx context.Context, app desktop.App) (<-chan desktop.Event, error) {
	if err := contextError(ctx); err != nil {
		return nil, err
	}
	d := b.d
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.IndexFunc(d.programs, func(p *Program) bool { return p.app.PID == app.PID }); i >= 0 {
		if events, ok := d.programs[i].watchers.Watch(ctx); ok {
			return events, nil
		}
	}
	return nil, notDeliveredError(aai.AppNotRunning, "%s (process %d) has ended", app.Name, app.PID)
}

// IsIdle reports whether the program does not hang; it ignores timers.
func (b *backend) IsIdle(app desktop.App) bool {
	d := b.d
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.programs, func(p *Program) bool { return p.app.PID == app.PID })
	return i >= 0 && !d.programs[i].hangs()
}

// BusyTime returns 0: the program uses no processor time.
func (b *backend) BusyTime(desktop.App) time.Duration { return 0 }

// emit sends the event to the watchers.
func (p *Program) emit(kind desktop.EventKind, id desktop.ID, detail string) {
	p.watchers.Send(desktop.Event{Kind: kind, ID: id, Detail: detail, At: time.Now()})
}
