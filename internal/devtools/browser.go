package devtools

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
)

// A Browser is a connected browser.
type Browser struct {
	Endpoint
	conn    *conn
	changed chan struct{} // full after a change of the targets

	mu       sync.Mutex
	targets  map[string]Target
	sessions map[string]*Session
	ended    bool
}

// A Target is a tab, or another thing that can be debugged.
type Target struct {
	ID    string `json:"targetId"`
	Kind  string `json:"type"` // "page" for a tab, "iframe" for a frame with a process of its own
	Title string `json:"title"`
	URL   string `json:"url"`
}

// connect connects to a browser and reads its targets.
func connect(ctx context.Context, e Endpoint, onChange func()) (*Browser, error) {
	w, err := dial(ctx, e.address())
	if err != nil {
		return nil, err
	}
	return newBrowser(ctx, e, w, onChange)
}

// newBrowser returns a browser at the other end of the wire, after reading its targets. The browser may only just start.
func newBrowser(ctx context.Context, e Endpoint, w wire, onChange func()) (*Browser, error) {
	b := &Browser{Endpoint: e, changed: make(chan struct{}, 1), targets: map[string]Target{}, sessions: map[string]*Session{}}
	b.conn = newConn(w, b.event)
	// The browser announces the targets that are there before it answers.
	if err := b.conn.call(ctx, "", "Target.setDiscoverTargets", map[string]any{"discover": true}, nil); err != nil {
		b.conn.close()
		return nil, err
	}
	go b.report(onChange)
	return b, nil
}

// Request sends a request to the browser itself, as [Session.Request] does to a target.
func (b *Browser) Request(ctx context.Context, method string, params, result any) error {
	return b.conn.request(ctx, "", method, params, result)
}

// Done is closed when the connection has ended.
func (b *Browser) Done() <-chan struct{} { return b.conn.closed }

// Tabs returns the open tabs, ordered by ID.
func (b *Browser) Tabs() []Target {
	b.mu.Lock()
	defer b.mu.Unlock()
	var tabs []Target
	for _, id := range slices.Sorted(maps.Keys(b.targets)) {
		if b.targets[id].Kind == "page" {
			tabs = append(tabs, b.targets[id])
		}
	}
	return tabs
}

// event handles an event of the browser, by the reading goroutine.
func (b *Browser) event(session, method string, params json.RawMessage) {
	var e struct {
		Info    Target `json:"targetInfo"`
		Target  string `json:"targetId"`
		Session string `json:"sessionId"`
	}
	switch method {
	case "Target.targetCreated", "Target.targetInfoChanged", "Target.targetDestroyed", "Target.detachedFromTarget":
		if json.Unmarshal(params, &e) != nil {
			return
		}
	}
	b.mu.Lock()
	s := b.sessions[session]
	changed := session == ""
	switch method {
	case "Target.targetCreated", "Target.targetInfoChanged":
		b.targets[e.Info.ID] = e.Info
	case "Target.targetDestroyed":
		delete(b.targets, e.Target)
	case "Target.detachedFromTarget":
		s, method = b.sessions[e.Session], Detached
		delete(b.sessions, e.Session)
	}
	b.mu.Unlock()
	if s != nil {
		s.event(method, params)
	}
	if !changed {
		return
	}
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// report calls onChange after changes of the targets, and after the end of the connection. It is no part of the reading
// goroutine, since onChange may wait for answers of the browser.
func (b *Browser) report(onChange func()) {
	for {
		select {
		case <-b.changed:
			onChange()
		case <-b.conn.closed:
			b.mu.Lock()
			ended := slices.Collect(maps.Values(b.sessions))
			clear(b.sessions)
			b.ended = true
			b.mu.Unlock()
			for _, s := range ended {
				s.event(Detached, nil)
			}
			onChange()
			return
		}
	}
}
