package memory

import (
	"slices"
	"sync"
	"time"

	"aai/internal/ax/watch"
	"aai/internal/desktop"
	"aai/internal/desktop/delta"
)

// A Process is one run of a program: a number is given again, with another beginning.
type Process struct {
	PID     int
	started string
}

// Of is the process that the program is.
func Of(app desktop.App) Process { return Process{app.PID, app.Started} }

// Programs are the list of programs as it was a moment ago, and what is known of each
// of them for everybody. Safe for concurrent use.
type Programs struct {
	mu     sync.Mutex
	apps   []desktop.App
	at     time.Time
	absent []Process // what was on the list once, and runs
	unrest map[Process]*delta.Unrest
	late   map[Process]*watch.Late // of the last act of anybody, if it is one
	acted  map[Process]time.Time   // when anybody did last
}

// listed is how long a list is good for: from finding a call's program to working
// with it, where nobody was asked in between. What ends meanwhile is noticed when
// it is read.
const listed = 100 * time.Millisecond

// Set takes a new list, and returns what has ended since the one before. A program that is
// not on it may still run: for a moment it had no window, or did not answer.
func (l *Programs) Set(apps []desktop.App, runs func(pid int) bool) (ended []Process) {
	l.mu.Lock()
	defer l.mu.Unlock()
	were := l.absent
	for _, was := range l.apps {
		were = append(were, Of(was))
	}
	l.absent = nil
	for _, was := range were {
		switch {
		case slices.ContainsFunc(apps, func(is desktop.App) bool { return Of(is) == was }):
		case runs(was.PID):
			l.absent = append(l.absent, was)
		default:
			ended = append(ended, was)
			delete(l.unrest, was)
			delete(l.late, was)
			delete(l.acted, was)
		}
	}
	l.apps, l.at = apps, time.Now()
	return ended
}

// Get returns the list, or nil if it is old.
func (l *Programs) Get() []desktop.App {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.at) > listed {
		return nil
	}
	return l.apps
}

// UnrestOf is what of the program changes by itself, for whoever has its turn.
func (l *Programs) UnrestOf(app desktop.App) *delta.Unrest {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unrest == nil {
		l.unrest = make(map[Process]*delta.Unrest)
	}
	u := l.unrest[Of(app)]
	if u == nil {
		u = &delta.Unrest{}
		l.unrest[Of(app)] = u
	}
	return u
}
