package atspi

import (
	"sync"
	"time"

	"aai/internal/desktop/mirror"
)

// How long apps are waited for that did not answer when they were listed last.
// One that hangs is not to slow down each call to the others.
const (
	// silentPatience is for those that were waited for in vain a moment ago.
	silentPatience = 15 * time.Millisecond
	// silentAge is how long that counts as a moment.
	silentAge = 5 * time.Second
)

// A roll remembers what apps said of themselves when they last answered, so that
// one that hangs keeps its name, and who was waited for in vain. The zero value is
// ready; it is safe for concurrent use.
type roll struct {
	mu     sync.Mutex
	known  map[ref]entry
	silent map[ref]time.Time // since when, for those that did not answer
}

// asleep reports whether the app was waited for in vain a moment ago.
func (r *roll) asleep(app ref, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	since, silent := r.silent[app]
	return silent && now.Sub(since) < silentAge
}

// still returns what the app said of itself, if it has done nothing since: then it
// would say the same, and is left in peace.
func (r *roll) still(app ref) (entry, bool) {
	r.mu.Lock()
	e, known := r.known[app]
	r.mu.Unlock()
	if !known || e.beat == "" || !e.pulse().Still(e.beat) {
		return entry{}, false
	}
	return e, true
}

// rested notes the pulse of an app that has been read, and still has as many
// windows as it said.
func (r *roll) rested(app ref, windows int, beat mirror.Pulse) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, known := r.known[app]; known && e.count == windows {
		e.beat = beat
		r.known[app] = e
	}
}

// call notes who answered, and fills in what those who did not once said. It
// forgets all others.
func (r *roll) call(entries []*entry, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, silent := make(map[ref]entry, len(entries)), make(map[ref]time.Time)
	for _, e := range entries {
		if e.answered {
			known[e.root] = *e
			continue
		}
		silent[e.root] = now
		if since, before := r.silent[e.root]; before && now.Sub(since) < silentAge {
			silent[e.root] = since
		}
		if last, before := r.known[e.root]; before && (e.pid == 0 || e.pid == last.pid) { // on a bus a name never comes back as another
			*e = last
			e.answered = false
			known[e.root] = last
		}
	}
	r.known, r.silent = known, silent
}
