package atspi

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/treecache"
)

// The interfaces of AT-SPI's signals.
const (
	eventPrefix    = "org.a11y.atspi.Event."
	objectEvents   = eventPrefix + "Object"
	windowEvents   = eventPrefix + "Window"
	documentEvents = eventPrefix + "Document"
)

// wantedEvents returns the events to register for. Most toolkits send only events that a client has
// registered for.
func wantedEvents() []string {
	return []string{
		"object:state-changed", "object:children-changed", "object:text-changed", "object:property-change",
		"object:property-change:accessible-name", "object:property-change:accessible-description", // Qt distinguishes these
		"object:property-change:accessible-value", "object:value-changed",
		"object:text-caret-moved", "object:bounds-changed", "object:selection-changed", "object:active-descendant-changed",
		"object:visible-data-changed", "window:create", "window:destroy", "window:activate", "window:deactivate", "window:", "document:load-complete", "document:reload",
	}
}

// subscribe requests the app's signals, and the signal for the app's end.
func (p *program) subscribe(ctx context.Context) error {
	r := &batch{}
	bus := ref{wire.BusName, wire.BusPath}
	for _, rule := range p.rules() {
		e := wire.Encoder{}
		e.Str(rule)
		r.add(&request{iface: wire.BusInterface, member: "AddMatch", signature: "s", body: e.Bytes()}, bus, nil)
	}
	for _, event := range wantedEvents() {
		e := wire.Encoder{}
		e.Str(event)
		if err := e.Array(4, func() error { return nil }); err != nil {
			return err
		}
		e.Str(p.sender)
		r.add(&request{iface: registryName, member: "RegisterEvent", signature: "sass", body: e.Bytes()}, ref{registryName, registryPath}, nil)
	}
	return r.dispatch(p.link.conn.Batch(ctx, r.messages))
}

// rules returns the match rules for the app's signals.
func (p *program) rules() []string {
	from := "type='signal',sender='" + p.sender + "',interface='"
	return []string{
		"type='signal',sender='" + wire.BusName + "',interface='" + wire.BusInterface + "',member='NameOwnerChanged',arg0='" + p.sender + "'",
		from + objectEvents + "'", from + windowEvents + "'", from + documentEvents + "'",
	}
}

// signal handles a signal from the bus. The reading goroutine calls it, so it never blocks.
func (l *link) signal(m *wire.Message) {
	if m.Sender == wire.BusName {
		l.ownerChanged(m)
		return
	}
	l.mu.Lock()
	p := l.senders[m.Sender]
	l.mu.Unlock()
	if p == nil {
		return
	}
	if s, ok := readSignal(m); ok {
		p.handleSignal(s)
	}
}

// ownerChanged ends the program if its bus name has lost its owner.
func (l *link) ownerChanged(m *wire.Message) {
	if m.Member != "NameOwnerChanged" || m.Signature != "sss" {
		return
	}
	d := m.Decoder()
	name, _, owner := d.Str(), d.Str(), d.Str()
	if d.Err() != nil || owner != "" {
		return
	}
	l.mu.Lock()
	p := l.senders[name]
	l.mu.Unlock()
	if p != nil {
		p.end()
	}
}

// A signal is a decoded AT-SPI signal.
type signal struct {
	source ref
	iface  string
	member string // begins with a capital letter: toolkits differ
	detail string
	number int32
}

// readSignal reads the common first fields of all toolkits: a string and an integer come first in
// "siiva{sv}" (atk-bridge, GTK 4) and in "siiv(so)" (Qt).
func readSignal(m *wire.Message) (signal, bool) {
	if m.Member == "" || !strings.HasPrefix(m.Signature, "si") {
		return signal{}, false
	}
	d := m.Decoder()
	s := signal{source: ref{m.Sender, m.Path}, iface: m.Interface, member: strings.ToUpper(m.Member[:1]) + m.Member[1:]}
	s.detail, s.number = d.Str(), d.I32()
	return s, d.Err() == nil
}

// handleSignal marks the changed nodes as dirty and sends the event to the watchers.
func (p *program) handleSignal(s signal) {
	p.cache.MarkReported(func(m *treecache.DirtySet[ref]) { s.markDirty(m, p.root) })
	if event, tell := s.event(p.sender); tell {
		p.cache.Send(event)
	}
}

// markDirty marks the nodes that the signal reports as changed. Frames are read anew in any case.
func (s signal) markDirty(m *treecache.DirtySet[ref], root ref) {
	switch {
	case s.iface == windowEvents:
		m.AddChanged(s.source)
		m.AddChildrenChanged(root)
	case s.iface == documentEvents, s.member == "ChildrenChanged":
		m.AddChildrenChanged(s.source)
		m.AddChanged(s.source)
	case s.member == "BoundsChanged", s.member == "VisibleDataChanged":
	case s.member == "StateChanged" && s.detail == "defunct", s.member == "TextCaretMoved":
	default:
		m.AddChanged(s.source)
	}
}

// event converts the signal to a desktop.Event. It returns false for a signal without an equivalent.
func (s signal) event(sender string) (desktop.Event, bool) {
	e := desktop.Event{ID: s.source.id(sender), At: time.Now()}
	switch s.iface {
	case windowEvents:
		e.Kind = desktop.WindowChanged
		switch s.member {
		case "Create":
			e.Detail = "opened"
		case "Destroy", "Close":
			e.Detail = "closed"
		case "Activate", "Deactivate":
			e.Detail = strings.ToLower(s.member) + "d"
		default:
			e.Kind = desktop.BoundsChanged
		}
		return e, true
	case documentEvents:
		e.Kind = desktop.ChildrenChanged
		return e, true
	case objectEvents:
		return s.objectEvent(e)
	}
	return e, false
}

func (s signal) objectEvent(e desktop.Event) (desktop.Event, bool) {
	switch s.member {
	case "StateChanged":
		e.Kind, e.Detail, e.Unset = desktop.StateChanged, stateWord(s.detail), s.number == 0
		if e.Detail == "focused" && s.number == 1 {
			e.Kind, e.Detail = desktop.FocusMoved, ""
			return e, true
		}
		return e, e.Detail != ""
	case "PropertyChange":
		switch s.detail {
		case "accessible-name", "accessible-description":
			e.Kind = desktop.NameChanged
		case "accessible-value":
			e.Kind = desktop.ValueChanged
		default:
			return e, false
		}
	case "TextChanged":
		e.Kind = desktop.TextChanged
	case "TextCaretMoved", "TextSelectionChanged":
		e.Kind = desktop.CaretMoved
	case "ChildrenChanged":
		e.Kind = desktop.ChildrenChanged
	case "SelectionChanged", "ActiveDescendantChanged":
		e.Kind = desktop.SelectionMoved
	case "BoundsChanged", "VisibleDataChanged":
		e.Kind = desktop.BoundsChanged
	default:
		return e, false
	}
	return e, true
}

// Watch implements desktop.Events.
func (b *Bus) Watch(ctx context.Context, app desktop.App) (<-chan desktop.Event, error) {
	limit, cancel := withDefaultTimeout(ctx)
	defer cancel()
	p, err := b.program(limit, app)
	if err != nil {
		return nil, err
	}
	events, ok := p.cache.Watch(ctx)
	if !ok {
		return nil, ended(app, nil)
	}
	return events, nil
}

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
