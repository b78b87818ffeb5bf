package aai

import (
	"context"
	"time"
)

// EventsTool is the name of the tool that reads the events of its app.
const EventsTool = "events"

// An Event is something that happened in an app, as the app reports it.
type Event struct {
	Type   string    // the name that the app's descriptor declares
	Detail string    // for people
	Fields any       // its values, as an object; nil: none
	At     time.Time // zero: now
}

// An EventSource receives the events of an app until ctx ends or the connection is lost; then the error says why. It
// calls ready when events are received, and report for each event, one at a time and without waiting.
type EventSource func(ctx context.Context, ready func(), report func(Event)) error

// An EventDriver is a Driver of apps that report events.
type EventDriver interface {
	Driver
	// CompileEvents returns the source of the events of one app; each recipe has an Event. Its error is as that of
	// Compile.
	CompileEvents(recipes []*Recipe) (EventSource, error)
}
