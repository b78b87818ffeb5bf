package atspi

import (
	"sync"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop/treecache"
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
type appRecords struct {
	mu     sync.Mutex
	known  map[ref]appEntry
	silent map[ref]time.Time // since when, for those that did not answer
}

// isSilent reports whether the app was waited for in vain a moment ago.
func (r *appRecords) isSilent(app ref, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	since, silent := r.silent[app]
	return silent && now.Sub(since) < silentAge
}

// unchanged returns what the app said of itself, if it has done nothing since: then it
// would say the same, and is left in peace.
func (r *appRecords) unchanged(app ref) (appEntry, bool) {
	r.mu.Lock()
	e, known := r.known[app]
	r.mu.Unlock()
	if !known || e.heartbeat == "" || !e.readHeartbeat().IsIdleSince(e.heartbeat) {
		return appEntry{}, false
	}
	return e, true
}

// noteIdle notes the pulse of an app that has been read, and still has as many
// windows as it said.
func (r *appRecords) noteIdle(app ref, windows int, beat treecache.Heartbeat) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, known := r.known[app]; known && e.count == windows {
		e.heartbeat = beat
		r.known[app] = e
	}
}

// update notes who answered, and fills in what those who did not once said. It
// forgets all others.
func (r *appRecords) update(entries []*appEntry, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, silent := make(map[ref]appEntry, len(entries)), make(map[ref]time.Time)
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
