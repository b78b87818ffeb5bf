package events

import (
	"context"
	"encoding/json"
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

// ViewParams returns the parameters of a call for events of the types, as the text of a JSON Schema.
func ViewParams(types ...string) string {
	named := ""
	if len(types) > 0 {
		all, err := json.Marshal(types)
		if err == nil { // always
			named = `"enum": ` + string(all) + `, `
		}
	}
	return `"after": {"type": "integer", "minimum": 0, "default": 0, "description": "The number of the last known event; 0: the newest events"},
	"limit": {"type": "integer", "minimum": 1, "maximum": 10000, "default": 50},
	"type": {"type": "string", ` + named + `"description": "Only events of this type"},
	"wait_ms": {"type": "integer", "minimum": 0, "maximum": 60000, "default": 0, "description": "Wait so long for an event after the last known one"}`
}

// CallTimeout is the limit of a call for events.
const CallTimeout = 75 * time.Second

// queryOf returns the query of a call, and how long to wait for an event.
func queryOf(call *aai.Call) (q Query, wait time.Duration) {
	number := func(name string, usual int) int {
		if n, given := aai.WholeNumber(call.Args[name]); given {
			return n
		}
		return usual
	}
	kind, _ := call.Args["type"].(string)
	q = Query{After: uint64(max(0, number("after", 0))), Limit: number("limit", 50), Type: kind}
	return q, time.Duration(number("wait_ms", 0)) * time.Millisecond
}

// ViewOf returns the events of a log that a call requests, and the same as text, after it has waited as the call says.
// listen calls a function after each event, until stop. The other fields of v are the caller's.
func ViewOf(ctx context.Context, l *Log, listen func(changed func()) (stop func()), call *aai.Call, v View) (View, string) {
	q, wait := queryOf(call)
	if wait > 0 {
		l.await(ctx, q, wait, listen)
	}
	if v.Events, v.Missing, v.Last = l.Find(q); v.Events == nil {
		v.Events = []Event{}
	}
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
