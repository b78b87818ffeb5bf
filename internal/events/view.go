package events

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
)

// View are the events of a program or an app as data.
type View struct {
	App     string    `json:"app"`
	Events  []Event   `json:"events"`
	Last    uint64    `json:"last"`              // number of the last event here; give it as after
	Missing uint64    `json:"missing,omitempty"` // events that are no longer kept
	Since   time.Time `json:"recorded_since"`
	Updates string    `json:"updates"` // how changes become known
}

// ByEvents is the View.Updates of an app that reports its events.
const ByEvents = "events"

// ViewSchema are the properties of a View, as the text of a JSON Schema.
const ViewSchema = `"app": {"type": "string"}, "events": {"type": "array", "items": {"type": "object"}}, "last": {"type": "integer"}, "missing": {"type": "integer"},
	"recorded_since": {"type": "string"}, "updates": {"type": "string"}`

// ViewParams are the parameters of a call for events, as the text of a JSON Schema.
const ViewParams = `"after": {"type": "integer", "minimum": 0, "default": 0, "description": "The number of the last known event"},
	"limit": {"type": "integer", "minimum": 1, "maximum": 10000, "default": 50}`

// defaultLimit is the default of the parameter limit.
const defaultLimit = 50

// read fills in the events that a call requests.
func (v *View) read(l *Log, call *aai.Call) {
	after, _ := aai.WholeNumber(call.Args["after"])
	limit := defaultLimit
	if n, given := aai.WholeNumber(call.Args["limit"]); given {
		limit = n
	}
	v.Events, v.Missing, v.Last = l.After(uint64(max(0, after)), limit)
	if n := len(v.Events); n > 0 {
		v.Last = v.Events[n-1].Number // later ones exceed the limit
	}
	if v.Events == nil {
		v.Events = []Event{}
	}
}

// ViewOf returns the events of a log that a call requests, and the same as text. The other fields of v are the caller's.
func ViewOf(l *Log, call *aai.Call, v View) (View, string) {
	v.read(l, call)
	lines := make([]string, 0, len(v.Events)+1)
	if v.Missing > 0 {
		lines = append(lines, fmt.Sprintf("%d events are missing: only the last ones are kept.", v.Missing))
	}
	for i := range v.Events {
		lines = append(lines, v.Events[i].line())
	}
	if len(lines) == 0 {
		lines = []string{"No event since " + v.Since.Format("15:04:05") + "."}
	}
	if v.Updates != ByEvents {
		lines = append(lines, "Updates: "+v.Updates)
	}
	return v, strings.Join(lines, "\n") + "\n"
}

// line describes the event in a line.
func (e *Event) line() string {
	line := fmt.Sprintf("%d %s %s", e.Number, e.At.Format("15:04:05.000"), e.Type)
	for _, part := range []string{e.Detail, e.Element} {
		if part != "" {
			line += " " + part
		}
	}
	if e.Title != "" {
		line += " in " + strconv.Quote(aai.CleanLabel(e.Title, 80))
	}
	if e.Text != "" {
		line += ": " + strconv.Quote(aai.CleanLabel(e.Text, 200))
	}
	if len(e.Fields) > 0 {
		line += " " + aai.CleanLabel(string(e.Fields), 400)
	}
	return line
}
