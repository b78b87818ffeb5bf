// Package eventlog records the events of programs while a caller follows or reads them, and reports when a program's tree
// or its state has changed. A program without listeners costs nothing.
package eventlog

import (
	"slices"
	"sync"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// maxEvents is the number of events that a log keeps.
const maxEvents = 10_000

// An Event is a change in a program, for models.
type Event struct {
	Number uint64 `json:"number"` // counts from 1 in each run of the program
	Type   string `json:"type"`
	// Element and Title are the element's and the window's description; empty for an element that vanished at once.
	Element string    `json:"element,omitempty"`
	Title   string    `json:"title,omitempty"`
	Detail  string    `json:"detail,omitempty"`
	Text    string    `json:"text,omitempty"`
	At      time.Time `json:"timestamp"`

	id desktop.ID // of an element without a description so far; "" otherwise
}

// The types of events.
const (
	windowOpened     = "window_opened"
	windowClosed     = "window_closed"
	windowActivated  = "window_activated"
	dialogAppeared   = "dialog_appeared"
	focusChanged     = "focus_changed"
	nameChanged      = "name_changed"
	titleChanged     = "title_changed" // of a window
	valueChanged     = "value_changed"
	textChanged      = "text_changed"
	stateChanged     = "state_changed"
	selectionChanged = "selection_changed"
	structureChanged = "structure_changed"
	notificationType = "notification_appeared"
	eventsLost       = "events_lost" // the program sent more events than could be read
	programEnded     = "program_ended"
)

// A log keeps the last events. It is safe for concurrent use.
type log struct {
	mu     sync.Mutex
	events []Event // a ring of maxEvents, once it is full
	last   uint64  // the number of the last event
	open   []uint64
}

// add adds an event.
func (l *log) add(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	e.Number = l.last
	if len(l.events) < maxEvents {
		l.events = append(l.events, e)
	} else {
		l.events[(e.Number-1)%maxEvents] = e
	}
	if e.id != "" {
		l.open = append(l.open, e.Number)
	}
}

// at returns the event with the number; nil if it is dropped.
func (l *log) at(number uint64) *Event {
	if number == 0 || number > l.last || number+maxEvents <= l.last {
		return nil
	}
	return &l.events[(number-1)%maxEvents]
}

// isOpen reports whether events wait for a description.
func (l *log) isOpen() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open) > 0
}

// describe fills in the descriptions of the events that wait for one. Elements that describe does not know stay without.
func (l *log) describe(describe func(id desktop.ID, e *Event)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, number := range l.open {
		if e := l.at(number); e != nil {
			describe(e.id, e)
			e.id = ""
		}
	}
	l.open = nil
}

// after returns up to limit events after the number, oldest first, or for 0 the last limit ones. missing is the number of
// events in between that are dropped.
func (l *log) after(number uint64, limit int) (events []Event, missing, last uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := min(l.last, maxEvents)
	first := l.last - kept + 1
	switch {
	case number == 0:
		first = l.last - min(kept, uint64(limit)) + 1
	case number+1 < first:
		missing = first - number - 1
	default:
		first = number + 1
	}
	for n := first; n <= l.last && len(events) < limit; n++ {
		events = append(events, *l.at(n))
	}
	return slices.Clip(events), missing, l.last
}
