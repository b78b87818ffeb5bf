package wintree

import (
	"context"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// Watching compares snapshots: the events of Windows have no IDs of elements, and many controls send none for a change of their value;
// in Wine those are most. An event only makes the next comparison come at once.
const (
	comparisonInterval = 100 * time.Millisecond
	comparisonShare    = 5               // without events reading takes at most this part of the time
	comparisonPatience = 5 * time.Second // for an app that does not answer
	beginPatience      = time.Second     // for the first snapshot of an app that does not answer
	maxPending         = 256             // events of a slow reader
)

// Watch implements desktop.Events.
func (t *Tree) Watch(ctx context.Context, app desktop.App) (<-chan desktop.Event, error) {
	if ctx.Err() != nil {
		return nil, expired(ctx)
	}
	if err := t.check(app); err != nil {
		return nil, err
	}
	w := &watcher{tree: t, app: app, events: make(chan desktop.Event, maxPending), wake: make(chan struct{}, 1)}
	heard, failed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(failed)
		_ = t.hooks.WatchProcess(ctx, uint32(app.PID), func() { close(heard) }, func() {
			select {
			case w.wake <- struct{}{}:
			default: // a comparison is due already
			}
		}) // without events the interval alone counts
	}()
	select {
	case <-heard:
	case <-failed:
	}
	limited, cancel := context.WithTimeout(ctx, beginPatience)
	defer cancel()
	w.last, _ = t.Snapshot(limited, app)
	go w.run(ctx)
	return w.events, nil
}

// A watcher reports the changes of an app to one reader.
type watcher struct {
	tree   *Tree
	app    desktop.App
	events chan desktop.Event
	wake   chan struct{}     // an event came
	last   *desktop.Snapshot // nil before the first
}

// report sends an event, or one of the kind Lost in the last place of the channel.
func (w *watcher) report(e desktop.Event) {
	switch free := cap(w.events) - len(w.events); {
	case free > 1:
		w.events <- e
	case free == 1:
		w.events <- desktop.Event{Kind: desktop.Lost, Detail: e.Detail, At: e.At}
	}
}

// run compares snapshots until ctx or the app ends.
func (w *watcher) run(ctx context.Context) {
	defer close(w.events)
	for ctx.Err() == nil {
		begun := time.Now()
		limited, cancel := context.WithTimeout(ctx, comparisonPatience)
		shot, err := w.tree.Snapshot(limited, w.app)
		cancel()
		switch {
		case err == nil && w.last != nil && w.last.Version != shot.Version:
			for _, e := range compare(w.last, shot, shot.Taken) {
				w.report(e)
			}
		case err != nil && aai.AsError(err).Code == aai.AppNotRunning:
			w.report(desktop.Event{Kind: desktop.Lost, Detail: desktop.Ended, At: time.Now()})
			return
		}
		if err == nil {
			w.last = shot
		}
		took := time.Since(begun)
		select { // many events cost at most half of the time
		case <-ctx.Done():
		case <-time.After(took):
		}
		select {
		case <-ctx.Done():
		case <-w.wake:
		case <-time.After(max(comparisonInterval, comparisonShare*took)):
		}
	}
}

// IsIdle implements desktop.Events. Wine reports no threads that wait, so there an app is never busy.
func (t *Tree) IsIdle(app desktop.App) bool {
	for _, load := range family(win32.ProcessLoads(), uint32(app.PID)) {
		if load.Runs {
			return false
		}
	}
	return true
}

// BusyTime implements desktop.Events, with all threads.
func (t *Tree) BusyTime(app desktop.App) (total time.Duration) {
	for _, load := range family(win32.ProcessLoads(), uint32(app.PID)) {
		total += load.Busy
	}
	return total
}

// family returns a process and its descendants.
func family(loads []win32.ProcessLoad, pid uint32) []win32.ProcessLoad {
	var members []win32.ProcessLoad
	in := map[uint32]bool{pid: true}
	for grown := true; grown; {
		grown = false
		for _, load := range loads {
			if load.PID == pid && len(members) == 0 || in[load.Parent] && !in[load.PID] {
				in[load.PID], grown = true, true
				members = append(members, load)
			}
		}
	}
	return members
}
