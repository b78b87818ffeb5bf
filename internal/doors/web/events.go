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

// The kinds of news.
const (
	EventJournal     = "journal" // something was put on record
	EventActiveCalls = "running" // a call has begun, gone on or ended; or all was stopped
	EventConsent     = "consent" // something was allowed, refused or revoked
	EventApps        = "apps"    // apps came, went or changed

	EventSettings = "settings" // the person's file of settings was written
)

const (
	// eventDebounce is for how long news are gathered that follow upon others.
	eventDebounce = 50 * time.Millisecond
	// streamHeartbeat is how often a stream without news says that it is there.
	streamHeartbeat = 20 * time.Second
	// streamWriteTimeout is how long a browser may take to take what is sent.
	streamWriteTimeout = 10 * time.Second
)

// eventHub is what happened, for whoever listens.
type eventHub struct {
	mu        sync.Mutex
	listeners map[*subscriber]struct{}
	count     uint64            // of all news
	last      map[string]uint64 // which of them was the last of a kind
}

// A listener hears of the kinds of news since it last asked.
type subscriber struct {
	ready chan struct{}
	kinds map[string]bool // guarded by the news'
}

// publish tells all listeners. It does not wait for them.
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
		default: // it knows already that something came
		}
	}
}

// published is how many news there have been.
func (n *eventHub) published() uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.count
}

// subscribe returns a listener, which hears of all after so many news until end: also of what
// came since its page was read.
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

// takeKinds returns the kinds of news that came, once.
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

// eventNames are the kinds of news as htmx names the events of a page's stream.
func eventNames(kinds []string) string {
	all := make([]string, len(kinds))
	for i, kind := range kinds {
		all[i] = kind + " from:#live"
	}
	return strings.Join(all, ", ")
}

// streamEvents is a page's stream of news: an event of its kind for each, with nothing in it. What
// has changed the page reads like anybody. It ends where newer pages of the session have
// streams enough.
func (d *Door) streamEvents(w http.ResponseWriter, r *http.Request, v *pageRequest) {
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Type", "text/event-stream")
		return // the stream would keep the connection from what is asked next
	}
	httpdoor.FromContext(r.Context()).MarkStreaming()
	after, err := strconv.ParseUint(v.query.Get("after"), 10, 64)
	if err != nil {
		after = d.events.published()
	}
	l, end := d.events.subscribe(after)
	defer end()
	goes, left := d.streams.add(v.session)
	defer left()
	control := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(text string) bool {
		_ = control.SetWriteDeadline(time.Now().Add(streamWriteTimeout)) // only writers of tests know none
		_, err := fmt.Fprint(w, text)
		return err == nil && control.Flush() == nil
	}
	if !send(": here\n\n") {
		return
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
			return // who has left hears no more
		}
		if !strings.HasPrefix(text, ":") && pause(r, eventDebounce) {
			return
		}
	}
}

// pause waits, and reports whether nobody waits for an answer any more.
func pause(r *http.Request, d time.Duration) bool {
	select {
	case <-r.Context().Done():
		return true
	case <-time.After(d):
		return false
	}
}
