package web

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway/internal/doors/httpdoor"
)

// The event kinds.
const (
	EventJournal     = "journal"  // a record was added to the journal
	EventActiveCalls = "running"  // a call has begun, progressed or ended; or all was stopped
	EventConsent     = "consent"  // a consent was given, refused or revoked
	EventApps        = "apps"     // apps came, went or changed
	EventPrograms    = "programs" // something happened in a program or an app that a page of events shows

	EventSettings = "settings" // the person's settings file was written
	EventDesktops = "desktops" // an isolated session has ended, or the person took it over or gave it back
)

const (
	// eventDebounce is the time for which events after another are collected.
	eventDebounce = 50 * time.Millisecond
	// streamHeartbeat is the interval at which a silent stream sends a comment.
	streamHeartbeat = 20 * time.Second
	// streamWriteTimeout limits the time of a write to a browser.
	streamWriteTimeout = 10 * time.Second
)

// eventHub distributes events to subscribers.
type eventHub struct {
	mu        sync.Mutex
	listeners map[*subscriber]struct{}
	count     uint64            // of all events
	last      map[string]uint64 // the number of the last event of each kind
}

// A subscriber collects the kinds of events since it last took them.
type subscriber struct {
	ready chan struct{}
	kinds map[string]bool // guarded by eventHub.mu
}

// publish notifies all subscribers. It does not wait for them.
func (n *eventHub) publish(kind string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.last == nil {
		n.last = make(map[string]uint64)
	}
	n.count++
	n.last[kind] = n.count
	for l := range n.listeners {
		l.kinds[kind] = true
		select {
		case l.ready <- struct{}{}:
		default: // it is notified already
		}
	}
}

// published returns the number of events so far.
func (n *eventHub) published() uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.count
}

// subscribe returns a subscriber for all events after the given number until end, including
// those since its page was read.
func (n *eventHub) subscribe(after uint64) (l *subscriber, end func()) {
	l = &subscriber{ready: make(chan struct{}, 1), kinds: make(map[string]bool)}
	n.mu.Lock()
	defer n.mu.Unlock()
	for kind, at := range n.last {
		if at > after {
			l.kinds[kind] = true
		}
	}
	if len(l.kinds) > 0 {
		l.ready <- struct{}{}
	}
	if n.listeners == nil {
		n.listeners = make(map[*subscriber]struct{})
	}
	n.listeners[l] = struct{}{}
	return l, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.listeners, l)
	}
}

// takeKinds returns the kinds of new events, and clears them.
func (n *eventHub) takeKinds(l *subscriber) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var kinds []string
	for kind := range l.kinds {
		kinds = append(kinds, kind)
	}
	clear(l.kinds)
	return kinds
}

// eventNames formats event kinds as triggers of htmx for a page's stream.
func eventNames(kinds []string) string {
	all := make([]string, len(kinds))
	for i, kind := range kinds {
		all[i] = kind + " from:#live"
	}
	return strings.Join(all, ", ")
}

// streamEvents serves a page's stream of events: each has its kind and no data, and the
// page then reads the change itself. The stream ends when newer pages of the session use
// all streams.
func (d *Door) streamEvents(w http.ResponseWriter, r *http.Request, v *pageRequest) {
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Type", "text/event-stream")
		return // the stream would block the connection for later requests
	}
	httpdoor.FromContext(r.Context()).MarkStreaming()
	after, err := strconv.ParseUint(v.query.Get("after"), 10, 64)
	if err != nil {
		after = d.events.published()
	}
	l, end := d.events.subscribe(after)
	defer end()
	goes, left := d.streams.add(v.session, maxStreams)
	defer left()
	control := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(text string) bool {
		_ = control.SetWriteDeadline(time.Now().Add(streamWriteTimeout)) // fails only for writers of tests
		_, err := fmt.Fprint(w, text)
		return err == nil && control.Flush() == nil
	}
	if !send(": here\n\n") {
		return
	}
	if v.query.Get("page") == eventsPageName {
		defer v.session.events.open(d)()
	}
	quiet := time.NewTicker(streamHeartbeat)
	defer quiet.Stop()
	for {
		text := ": here\n\n"
		select {
		case <-r.Context().Done():
			return
		case <-goes:
			send("event: " + supersededEvent + "\ndata: 1\n\n")
			return
		case <-quiet.C:
		case <-l.ready:
			text = ""
			for _, kind := range d.events.takeKinds(l) {
				text += "event: " + kind + "\ndata: 1\n\n"
			}
		}
		if d.sessions.find(r, d.now()) != v.session || !send(text) {
			return // the session has ended, or the browser has disconnected
		}
		if !strings.HasPrefix(text, ":") && pause(r, eventDebounce) {
			return
		}
	}
}

// pause waits, and reports whether the request has ended meanwhile.
func pause(r *http.Request, d time.Duration) bool {
	select {
	case <-r.Context().Done():
		return true
	case <-time.After(d):
		return false
	}
}
