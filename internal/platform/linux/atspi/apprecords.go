package atspi

import (
	"sync"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop/treecache"
)

// The limits for apps that did not answer the last listing. A hanging app must not slow down every call to
// the others.
const (
	// silentPatience is how long to wait for an app that is marked silent.
	silentPatience = 15 * time.Millisecond
	// silentAge is how long the mark lasts.
	silentAge = 5 * time.Second
)

// An appRecords remembers the last answers of apps, so that a hanging app keeps its name, and which apps
// did not answer. The zero value is ready; it is safe for concurrent use.
type appRecords struct {
	mu     sync.Mutex
	known  map[ref]appEntry
	silent map[ref]time.Time // time of the first missing answer
}

// isSilent reports whether the app failed to answer a listing less than silentAge ago.
func (r *appRecords) isSilent(app ref, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	since, silent := r.silent[app]
	return silent && now.Sub(since) < silentAge
}

// unchanged returns the app's last answers if the app has been idle since: then it would answer the same,
// so it is not queried.
func (r *appRecords) unchanged(app ref) (appEntry, bool) {
	r.mu.Lock()
	e, known := r.known[app]
	r.mu.Unlock()
	if !known || e.heartbeat == "" || !e.readHeartbeat().IsIdleSince(e.heartbeat) {
		return appEntry{}, false
	}
	return e, true
}

// noteIdle records the heartbeat of an app that has been read, if its number of windows still equals the
// recorded one.
func (r *appRecords) noteIdle(app ref, windows int, beat treecache.Heartbeat) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, known := r.known[app]; known && e.count == windows {
		e.heartbeat = beat
		r.known[app] = e
	}
}

// update records which apps answered, and fills in the earlier answers of those that did not. It removes
// the records of all other apps.
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
		if last, before := r.known[e.root]; before && (e.pid == 0 || e.pid == last.pid) { // a bus never reuses a unique name
			*e = last
			e.answered = false
			known[e.root] = last
		}
	}
	r.known, r.silent = known, silent
}
