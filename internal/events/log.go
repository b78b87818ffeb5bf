// Package events keeps the events of programs and apps in numbered logs, records what apps report while callers follow
// or read it, and answers calls for events.
package events

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"
)

// Limits of a log.
const (
	describeTime = 2 * time.Second // how long an event is kept back until it is described
	maxEvents    = 10_000
	maxBytes     = 16 << 20 // of all Fields
)

// The types of events of every app.
const (
	Lost    = "events_lost" // events could not be received
	Ended   = "program_ended"
	Started = "program_started"
)

// An Event is something that happened in a program or an app, for models.
type Event struct {
	Number uint64 `json:"number"` // counts from 1 in each run of a program, or since an app is recorded
	Type   string `json:"type"`
	// Element and Title are the element's and the window's description; empty for an element that vanished at once.
	Element string          `json:"element,omitempty"`
	Title   string          `json:"title,omitempty"`
	Detail  string          `json:"detail,omitempty"`
	Text    string          `json:"text,omitempty"`
	Fields  json.RawMessage `json:"fields,omitempty"` // the values that an app reports with it
	At      time.Time       `json:"timestamp"`

	// Subject identifies an element without a description so far; "" otherwise.
	Subject string `json:"-"`
}

// A Log keeps the last events. The zero Log is empty. It is safe for concurrent use.
type Log struct {
	mu     sync.Mutex
	events []Event // a ring of maxEvents, once it is full
	first  uint64  // the number of the oldest kept event
	last   uint64  // the number of the last event
	bytes  int     // of the kept Fields
	open   []uint64
}

// Add adds an event under the next number.
func (l *Log) Add(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last-l.first+1 >= maxEvents {
		l.drop()
	}
	l.last++
	e.Number, l.first = l.last, max(l.first, 1)
	if len(l.events) < maxEvents {
		l.events = append(l.events, e)
	} else {
		l.events[(e.Number-1)%maxEvents] = e
	}
	for l.bytes += len(e.Fields); l.bytes > maxBytes && l.first < l.last; {
		l.drop()
	}
	if e.Subject != "" {
		l.open = append(l.open, e.Number)
		if len(l.open) > 2*maxEvents { // a program that hangs cannot be described
			l.open = slices.Clone(l.open[maxEvents:])
		}
	}
}

// drop drops the oldest event.
func (l *Log) drop() {
	if e := l.at(l.first); e != nil {
		l.bytes -= len(e.Fields)
		*e = Event{}
		l.first++
	}
}

// at returns the event with the number; nil if it is dropped.
func (l *Log) at(number uint64) *Event {
	if number == 0 || number > l.last || number < l.first {
		return nil
	}
	return &l.events[(number-1)%maxEvents]
}

// IsOpen reports whether events wait for a description.
func (l *Log) IsOpen() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open) > 0
}

// Describe fills in the descriptions of the events that wait for one. Elements that describe does not know stay without.
func (l *Log) Describe(describe func(subject string, e *Event)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, number := range l.open {
		if e := l.at(number); e != nil {
			describe(e.Subject, e)
			e.Subject = ""
		}
	}
	l.open = nil
}

// A Query selects events of a log.
type Query struct {
	// After is the number of the last known event; 0 means the last Limit events. A number beyond the last one is of an
	// earlier log, so all events come after it.
	After uint64
	Limit int
	Type  string // "": every type
}

// Find returns the selected events, oldest first. missing is the number of dropped events after the last known one. last
// is the number of the last event so far, without those that soon get a description.
func (l *Log) Find(q Query) (found []Event, missing, last uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := max(l.first, 1)
	switch {
	case q.After == 0 || q.After > l.last:
	case q.After+1 < first:
		missing = first - q.After - 1
	default:
		first = q.After + 1
	}
	if q.After == 0 && q.Type == "" {
		first = max(first, l.last-min(l.last, uint64(q.Limit))+1)
	}
	last = l.last
	for n := first; n <= l.last && (len(found) < q.Limit || q.After == 0); n++ {
		e := l.at(n)
		if e.Subject != "" && time.Since(e.At) < describeTime {
			last = n - 1
			break
		}
		if q.Type == "" || e.Type == q.Type {
			found = append(found, *e)
		}
	}
	return slices.Clip(found[max(0, len(found)-q.Limit):]), missing, last
}

// await waits until an event is selected, ctx ends, or the time has passed. listen calls a function after each event,
// until stop.
func (l *Log) await(ctx context.Context, q Query, limit time.Duration, listen func(changed func()) (stop func())) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	news := make(chan struct{}, 1)
	defer listen(func() {
		select {
		case news <- struct{}{}:
		default:
		}
	})()
	for {
		if found, _, _ := l.Find(q); len(found) > 0 {
			return
		}
		select {
		case <-news:
		case <-time.After(describeTime / 20): // an event may have got its description
		case <-ctx.Done():
			return
		}
	}
}
