package ax

import (
	"context"
	"slices"
	"sync"
	"time"

	"aai/internal/desktop"
	"aai/internal/desktop/delta"
)

// A process is one run of a program: a number is given again, with another beginning.
type process struct {
	pid     int
	started string
}

func processOf(app desktop.App) process { return process{app.PID, app.Started} }

// A listing is the list of programs as it was a moment ago, and what is known of each
// of them for everybody. Safe for concurrent use.
type listing struct {
	mu     sync.Mutex
	apps   []desktop.App
	at     time.Time
	absent []process // what was on the list once, and runs
	unrest map[process]*delta.Unrest
	late   map[process]*lateness // of the last act of anybody, if it is one
}

// listed is how long a list is good for: from finding a call's program to working
// with it, where nobody was asked in between. What ends meanwhile is noticed when
// it is read.
const listed = 100 * time.Millisecond

// set takes a new list, and returns what has ended since the one before. A program that is
// not on it may still run: for a moment it had no window, or did not answer.
func (l *listing) set(apps []desktop.App, runs func(pid int) bool) (ended []process) {
	l.mu.Lock()
	defer l.mu.Unlock()
	were := l.absent
	for _, was := range l.apps {
		were = append(were, processOf(was))
	}
	l.absent = nil
	for _, was := range were {
		switch {
		case slices.ContainsFunc(apps, func(is desktop.App) bool { return processOf(is) == was }):
		case runs(was.pid):
			l.absent = append(l.absent, was)
		default:
			ended = append(ended, was)
			delete(l.unrest, was)
			delete(l.late, was)
		}
	}
	l.apps, l.at = apps, time.Now()
	return ended
}

// get returns the list, or nil if it is old.
func (l *listing) get() []desktop.App {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.at) > listed {
		return nil
	}
	return l.apps
}

// unrestOf is what of the program changes by itself, for whoever has its turn.
func (l *listing) unrestOf(app desktop.App) *delta.Unrest {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unrest == nil {
		l.unrest = make(map[process]*delta.Unrest)
	}
	u := l.unrest[processOf(app)]
	if u == nil {
		u = &delta.Unrest{}
		l.unrest[processOf(app)] = u
	}
	return u
}

// answers looks whether the program answers at all.
func (d *desk) answers(ctx context.Context, app desktop.App) error {
	if _, err := d.open().Tree.Snapshot(ctx, app); err != nil {
		return unread(err)
	}
	return nil
}
