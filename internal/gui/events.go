package gui

import (
	"context"
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/events"
	"github.com/gybob/aai-gateway/internal/gui/eventlog"
	"github.com/gybob/aai-gateway/internal/gui/programs"
)

const getEventsName = "ax_get_events"

// byPolling is the events.View.Updates of a program that reports no events.
const byPolling = "polled every second: the program reports no events"

func (d *engine) getEventsTool() spec {
	return spec{
		name: getEventsName, title: "Get program events", effect: aai.Reads,
		returns:     events.ViewSchema,
		description: "List what happened in a program since the first such call: windows, dialogs, focus, values, notifications.",
		params:      appProp + `, ` + events.ViewParams(eventlog.Types()...),
		required:    `["app"]`, unlisted: true, timeout: events.CallTimeout, concurrency: constantConcurrency(aai.Independent),
		run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			app, err := d.AdmittedApp(ctx, call)
			if err != nil && call.Target != nil {
				if r := d.recorders.Ended(func(a desktop.App) bool { return programs.IsTarget(a, call.Target) }); r != nil {
					return eventsResult(ctx, r, call, r.App()), nil
				}
			}
			if err != nil {
				return nil, err
			}
			return eventsResult(ctx, d.recorders.For(ctx, app), call, app), nil
		},
	}
}

// endedProgram returns the program that has ended, as the target of a call that reads its events; nil if the name means
// another one, or none with a log.
func (d *engine) endedProgram(call *aai.Call, name string, notFound error) *aai.App {
	if call.Tool != getEventsName || notFound == nil || !slices.Contains([]aai.Code{aai.AppNotFound, aai.AppNotRunning}, aai.AsError(notFound).Code) {
		return nil
	}
	r := d.recorders.Ended(func(a desktop.App) bool { return programs.HasName(a, name) })
	if r == nil {
		return nil
	}
	return d.EndedTarget(r.App())
}

// eventsResult returns the events that a call requests.
func eventsResult(ctx context.Context, r *eventlog.Recorder, call *aai.Call, app desktop.App) *aai.Result {
	view := events.View{App: aai.CleanLabel(app.Name, 80), Since: r.Begun(), Updates: events.ByEvents}
	if r.IsPolled() {
		view.Updates = byPolling
	}
	listen := func(changed func()) (stop func()) { return r.Listen(eventlog.Events, changed) }
	view, text := events.ViewOf(ctx, r.Log(ctx), listen, call, view)
	return &aai.Result{Text: desktop.Fence(text, app.Name), Data: view, DataComplete: true}
}
