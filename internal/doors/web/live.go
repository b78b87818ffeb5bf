package web

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"aai/internal/doors/httpdoor"
)

// The kinds of news.
const (
	NewsJournal = "journal" // something was put on record
	NewsRunning = "running" // a call has begun, gone on or ended; or all was stopped
	NewsConsent = "consent" // something was allowed, refused or revoked
	NewsApps    = "apps"    // apps came, went or changed

	NewsSettings = "settings" // the person's file of settings was written
)

const (
	// together is for how long news are gathered that follow upon others.
	together = 50 * time.Millisecond
	// stillThere is how often a stream without news says that it is there.
	stillThere = 20 * time.Second
	// taking is how long a browser may take to take what is sent.
	taking = 10 * time.Second
)

// news is what happened, for whoever listens.
type news struct {
	mu        sync.Mutex
	listeners map[*listener]struct{}
	count     uint64            // of all news
	last      map[string]uint64 // which of them was the last of a kind
}

// A listener hears of the kinds of news since it last asked.
type listener struct {
	came  chan struct{}
	kinds map[string]bool // guarded by the news'
}

// tell tells all listeners. It does not wait for them.
func (n *news) tell(kind string) {
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
		case l.came <- struct{}{}:
		default: // it knows already that something came
		}
	}
}

// told is how many news there have been.
func (n *news) told() uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.count
}

// listen returns a listener, which hears of all after so many news until end: also of what
// came since its page was read.
func (n *news) listen(after uint64) (l *listener, end func()) {
	l = &listener{came: make(chan struct{}, 1), kinds: make(map[string]bool)}
	n.mu.Lock()
	defer n.mu.Unlock()
	for kind, at := range n.last {
		if at > after {
			l.kinds[kind] = true
		}
	}
	if len(l.kinds) > 0 {
		l.came <- struct{}{}
	}
	if n.listeners == nil {
		n.listeners = make(map[*listener]struct{})
	}
	n.listeners[l] = struct{}{}
	return l, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.listeners, l)
	}
}

// take returns the kinds of news that came, once.
func (n *news) take(l *listener) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var kinds []string
	for kind := range l.kinds {
		kinds = append(kinds, kind)
	}
	clear(l.kinds)
	return kinds
}

// triggers are the kinds of news as htmx names the events of a page's stream.
func triggers(kinds []string) string {
	all := make([]string, len(kinds))
	for i, kind := range kinds {
		all[i] = kind + " from:#live"
	}
	return strings.Join(all, ", ")
}

// live is a page's stream of news: an event of its kind for each, with nothing in it. What
// has changed the page reads like anybody. It ends where newer pages of the session have
// streams enough.
func (d *Door) live(w http.ResponseWriter, r *http.Request, v *visit) {
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Type", "text/event-stream")
		return // the stream would keep the connection from what is asked next
	}
	httpdoor.Of(r.Context()).Lasts()
	after, err := strconv.ParseUint(v.query.Get("after"), 10, 64)
	if err != nil {
		after = d.news.told()
	}
	l, end := d.news.listen(after)
	defer end()
	goes, left := d.streams.begin(v.session)
	defer left()
	control := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(text string) bool {
		_ = control.SetWriteDeadline(time.Now().Add(taking)) // only writers of tests know none
		_, err := fmt.Fprint(w, text)
		return err == nil && control.Flush() == nil
	}
	if !send(": here\n\n") {
		return
	}
	quiet := time.NewTicker(stillThere)
	defer quiet.Stop()
	for {
		text := ": here\n\n"
		select {
		case <-r.Context().Done():
			return
		case <-goes:
			send("event: " + newsElsewhere + "\ndata: 1\n\n")
			return
		case <-quiet.C:
		case <-l.came:
			text = ""
			for _, kind := range d.news.take(l) {
				text += "event: " + kind + "\ndata: 1\n\n"
			}
		}
		if d.sessions.of(r, d.now()) != v.session || !send(text) {
			return // who has left hears no more
		}
		if !strings.HasPrefix(text, ":") && pause(r, together) {
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
