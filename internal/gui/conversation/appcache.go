package conversation

import (
	"slices"
	"sync"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/delta"
	"github.com/gybob/aai-gateway/internal/gui/watch"
)

// Process identifies one run of a program: the system reuses PIDs, with another start time.
type Process struct {
	PID     int
	started string
}

// ProcessOf returns the process of the program.
func ProcessOf(app desktop.App) Process { return Process{app.PID, app.Started} }

// AppCache holds the recent list of programs, and the state of each program that all conversations
// share. It is safe for concurrent use.
type AppCache struct {
	mu             sync.Mutex
	apps           []desktop.App
	at             time.Time
	absent         []Process // processes that were listed before and still run
	ambientChanges map[Process]*delta.AmbientChanges
	pending        map[Process]*watch.PendingEffect // of the program's last action, by any caller, if pending
	lastActed      map[Process]time.Time            // time of the last action by any caller
}

// listLifetime is how long a list stays valid: enough from finding a call's program to acting on
// it, if no question intervenes. A program that ends meanwhile fails on its next read.
const listLifetime = 100 * time.Millisecond

// Set stores a new list and returns the processes that have ended since the previous one. A program
// missing from the list may still run: it had no window for a moment, or did not answer.
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

// Get returns the list, or nil if it is too old.
func (l *AppCache) Get() []desktop.App {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.at) > listLifetime {
		return nil
	}
	return l.apps
}

// AmbientChangesOf returns the program's ambient changes, for the holder of its queue slot.
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
