package gui

import (
	"context"
	"fmt"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/params"
	"github.com/gybob/aai-gateway/internal/gui/watch"
)

// maxWait is the maximum wait of a call for a program to be idle.
const maxWait = 60 * time.Second

func (d *engine) waitIdleTool() *aai.Tool {
	return spec{
		name: "ax_wait_idle", title: "Wait until idle", effect: aai.Reads,
		returns:     `"idle": {"type": "boolean"}, "waited_ms": {"type": "integer"}, "events": {"type": "integer"}`,
		description: "Wait until a program's windows have not changed for a while.",
		params: appProp + `,
			"timeout_ms": {"type": "integer", "minimum": 1, "maximum": 60000, "default": 5000},
			"poll_ms": {"type": "integer", "minimum": 10, "maximum": 10000, "default": 100, "description": "How long it must be quiet"}`,
		required: `["app"]`, timeout: maxWait + callTimeout, concurrency: constantConcurrency(aai.Shared),
		run: d.waitIdle,
	}.tool()
}

// waitIdle waits by events, without polling. It does not hold the program's queue slot, so that
// other calls can act on it meanwhile.
func (d *engine) waitIdle(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	app, err := d.AdmittedApp(ctx, call)
	if err != nil {
		return nil, err
	}
	backend := d.OpenBackend()
	if backend.Events == nil {
		return nil, guierr.Unsupported("events")
	}
	limit := time.Duration(params.Int(call, "timeout_ms", 5000)) * time.Millisecond
	still := time.Duration(params.Int(call, "poll_ms", 100)) * time.Millisecond
	watching, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	events, err := backend.Events.Watch(watching, app)
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	seen := watch.WaitUntilQuiet(watching, events, still, func(seen int) {
		gateway.Progress(ctx, time.Since(begun).Round(time.Millisecond).Seconds(), limit.Seconds(), fmt.Sprintf("Not quiet yet, %d events", seen))
	})
	if ctx.Err() != nil { // the caller has gone
		return nil, ctx.Err()
	}
	idle := watching.Err() == nil
	if idle { // a program that hangs is quiet too
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		if err := d.Probe(ctx, app); err != nil {
			return nil, err
		}
	}
	waited := time.Since(begun).Round(time.Millisecond)
	text := fmt.Sprintf("%s was quiet for %s, after %s and %d events", aai.CleanLabel(app.Name, 60), still, waited, seen)
	if !idle {
		text = fmt.Sprintf("%s was still changing after %s: %d events", aai.CleanLabel(app.Name, 60), waited, seen)
	}
	return &aai.Result{Text: text, DataComplete: true, Data: map[string]any{"idle": idle, "waited_ms": waited.Milliseconds(), "events": seen}}, nil
}
