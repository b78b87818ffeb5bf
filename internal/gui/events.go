package gui

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/eventlog"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

// eventsView are the events of a program as data.
type eventsView struct {
	App     string           `json:"app"`
	Events  []eventlog.Event `json:"events"`
	Last    uint64           `json:"last"`              // number of the last event; give it as after
	Missing uint64           `json:"missing,omitempty"` // events that are no longer kept
	Since   time.Time        `json:"recorded_since"`
	Updates string           `json:"updates"`
}

// How changes of a program become known.
const (
	byEvents  = "events"
	byPolling = "polled every second: the program reports no events"
)

func (d *engine) getEventsTool() spec {
	return spec{
		name: "ax_get_events", title: "Get program events", effect: aai.Reads,
		returns: `"app": {"type": "string"}, "events": {"type": "array", "items": {"type": "object"}}, "last": {"type": "integer"}, "missing": {"type": "integer"},
			"recorded_since": {"type": "string"}, "updates": {"type": "string"}`,
		description: "List what happened in a program since the first such call: windows, dialogs, focus, values, notifications.",
		params: appProp + `,
			"after": {"type": "integer", "minimum": 0, "default": 0, "description": "The number of the last known event"},
			"limit": {"type": "integer", "minimum": 1, "maximum": 10000, "default": 50}`,
		required: `["app"]`, unlisted: true, concurrency: constantConcurrency(aai.Independent),
		run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			app, err := d.AdmittedApp(ctx, call)
			if err != nil {
				return nil, err
			}
			return eventsResult(d.recorders.For(ctx, app), call, app), nil
		},
	}
}

// eventsResult returns the events that a call requests.
func eventsResult(r *eventlog.Recorder, call *aai.Call, app desktop.App) *aai.Result {
	after := uint64(max(0, params.Int(call, "after", 0)))
	events, missing, last := r.After(after, params.Int(call, "limit", 50))
	view := eventsView{App: aai.CleanLabel(app.Name, 80), Events: events, Last: last, Missing: missing, Since: r.Begun(), Updates: byEvents}
	if r.IsPolled() {
		view.Updates = byPolling
	}
	lines := make([]string, 0, len(events))
	for _, e := range events {
		line := fmt.Sprintf("%d %s %s", e.Number, e.At.Format("15:04:05.000"), e.Type)
		for _, part := range []string{e.Detail, e.Element} {
			if part != "" {
				line += " " + part
			}
		}
		if e.Title != "" {
			line += " in " + desktop.Quote(e.Title, 80)
		}
		if e.Text != "" {
			line += ": " + desktop.Quote(e.Text, 200)
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		lines = []string{"No event since " + r.Begun().Format("15:04:05") + "."}
	}
	if missing > 0 {
		lines = append([]string{fmt.Sprintf("%d events are missing: only the last ones are kept.", missing)}, lines...)
	}
	if events == nil {
		view.Events = []eventlog.Event{}
	}
	return &aai.Result{Text: desktop.Fence(strings.Join(lines, "\n")+"\n", app.Name), Data: view, DataComplete: true}
}
