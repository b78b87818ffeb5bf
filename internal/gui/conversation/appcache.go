package conversation

import (
	"slices"
	"sync"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/delta"
	"github.com/gybob/aai-gateway/internal/gui/watch"
)

// A Process is one run of a program: a number is given again, with another beginning.
type Process struct {
	PID     int
	started string
}

// ProcessOf is the process that the program is.
func ProcessOf(app desktop.App) Process { return Process{app.PID, app.Started} }

// AppCache are the list of programs as it was a moment ago, and what is known of each
// of them for everybody. Safe for concurrent use.
type AppCache struct {
	mu             sync.Mutex
	apps           []desktop.App
	at             time.Time
	absent         []Process // what was on the list once, and runs
	ambientChanges map[Process]*delta.AmbientChanges
	pending        map[Process]*watch.PendingEffect // of the last act of anybody, if it is one
	lastActed      map[Process]time.Time            // when anybody did last
}

// listLifetime is how long a list is good for: from finding a call's program to working
// with it, where nobody was asked in between. What ends meanwhile is noticed when
// it is read.
const listLifetime = 100 * time.Millisecond

// Set takes a new list, and returns what has ended since the one before. A program that is
// not on it may still run: for a moment it had no window, or did not answer.
func (l *AppCache) Set(apps []desktop.App, runs func(pid int) bool) (ended []Process) {
	l.mu.Lock()
	defer l.mu.Unlock()
	were := l.absent
	for _, was := range l.apps {
		were = append(were, ProcessOf(was))
	}
	l.absent = nil
	for _, was := range were {
		switch {
		case slices.ContainsFunc(apps, func(is desktop.App) bool { return ProcessOf(is) == was }):
		case runs(was.PID):
			l.absent = append(l.absent, was)
		default:
			ended = append(ended, was)
			delete(l.ambientChanges, was)
			delete(l.pending, was)
			delete(l.lastActed, was)
		}
	}
	l.apps, l.at = apps, time.Now()
	return ended
}

// Get returns the list, or nil if it is old.
func (l *AppCache) Get() []desktop.App {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.at) > listLifetime {
		return nil
	}
	return l.apps
}

// AmbientChangesOf is what of the program changes by itself, for whoever has its turn.
func (l *AppCache) AmbientChangesOf(app desktop.App) *delta.AmbientChanges {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ambientChanges == nil {
		l.ambientChanges = make(map[Process]*delta.AmbientChanges)
	}
	u := l.ambientChanges[ProcessOf(app)]
	if u == nil {
		u = &delta.AmbientChanges{}
		l.ambientChanges[ProcessOf(app)] = u
	}
	return u
}
