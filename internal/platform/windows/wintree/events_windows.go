package wintree

import (
	"context"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// Watching compares snapshots, since many controls send no event for a change of their value.
const (
	comparisonInterval = 100 * time.Millisecond
	comparisonShare    = 5               // reading takes at most this part of the time
	comparisonPatience = 5 * time.Second // for an app that does not answer
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
	events := make(chan desktop.Event, maxPending)
	go func() {
		defer close(events)
		t.compareRegularly(ctx, app, func(e desktop.Event) {
			if len(events) < cap(events)-1 {
				events <- e
			} else if len(events) < cap(events) {
				events <- desktop.Event{Kind: desktop.Lost, At: e.At} // the last place
			}
		})
	}()
	return events, nil
}

// compareRegularly reports the changes of the app until ctx or the app ends.
func (t *Tree) compareRegularly(ctx context.Context, app desktop.App, report func(desktop.Event)) {
	var last *desktop.Snapshot
	for ctx.Err() == nil {
		begun := time.Now()
		limited, cancel := context.WithTimeout(ctx, comparisonPatience)
		shot, err := t.Snapshot(limited, app)
		cancel()
		switch {
		case err == nil && last != nil && last.Version != shot.Version:
			for _, e := range compare(last, shot, shot.Taken) {
				report(e)
			}
		case err != nil && aai.AsError(err).Code == aai.AppNotRunning:
			report(desktop.Event{Kind: desktop.Lost, Detail: desktop.Ended, At: time.Now()})
			return
		}
		if err == nil {
			last = shot
		}
		select {
		case <-ctx.Done():
		case <-time.After(max(comparisonInterval, comparisonShare*time.Since(begun))):
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
