package gui

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/params"
	"github.com/gybob/aai-gateway/internal/gui/watch"
)

func (d *engine) waitTool() spec {
	return spec{
		name: "ax_wait", title: "Wait for an element", effect: aai.Reads,
		description: "Wait for an element's state.",
		params: appProp + `,` + queryProp + `,` + nthProp + `,
			"until": {"type": "string", "enum": ["appears", "vanishes", "value", "state"]},
			"value": {"type": "string"},
			"state": {"type": "string", "enum": ["enabled", "disabled", "checked", "unchecked", "selected", "focused", "expanded", "collapsed"]},
			"timeout_ms": {"type": "integer", "minimum": 1, "maximum": 60000, "default": 10000}`,
		required: `["app", "query"]`, secret: []string{"value"}, timeout: maxWait + callTimeout, concurrency: constantConcurrency(aai.Shared),
		run: d.wait,
	}
}

// wait is a call that waits for one condition.
type wait struct {
	toolset *engine
	call    *aai.Call
	until   string
	begun   time.Time
}

// wait waits by events, and checks after each. It does not hold the program's queue slot, so that
// other calls can act on it meanwhile.
func (d *engine) wait(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	w, err := d.waitOf(call)
	if err != nil {
		return nil, err
	}
	app, err := d.AdmittedApp(ctx, call)
	if err != nil {
		return nil, err
	}
	limit := time.Duration(params.Int(call, "timeout_ms", 10000)) * time.Millisecond
	watching, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var events <-chan desktop.Event
	if e := d.OpenBackend().Events; e != nil {
		if events, err = e.Watch(watching, app); err != nil {
			return nil, err
		}
	}
	var came *aai.Result
	err = watch.Poll(watching, events, func() (bool, error) {
		var err error
		came, err = w.look(watching, false)
		return came != nil, err
	}, func() {
		gateway.Progress(ctx, w.waited().Seconds(), limit.Seconds(), "Not yet")
	})
	switch {
	case ctx.Err() != nil: // the caller has gone
		return nil, ctx.Err()
	case came != nil || err != nil && watching.Err() == nil:
		return came, err
	}
	ctx, cancel = context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return w.look(ctx, true)
}

// waitOf returns the condition of the call.
func (d *engine) waitOf(call *aai.Call) (*wait, error) {
	w := &wait{toolset: d, call: call, until: params.String(call, "until"), begun: time.Now()}
	for _, what := range []string{"value", "state"} {
		switch {
		case params.Has(call, what) && w.until == "":
			w.until = what
		case params.Has(call, what) != (w.until == what):
			return nil, aai.Errorf(aai.InvalidParams, `%s: expected it with until "%s", and only then`, what, what)
		}
	}
	if w.until == "" {
		w.until = "appears"
	}
	if (w.until == "appears" || w.until == "vanishes") && !params.Has(call, "nth") { // any match is enough
		first := *call
		first.Args = maps.Clone(call.Args)
		first.Args["nth"] = 1
		w.call = &first
	}
	return w, nil
}

// waited returns the time since the start.
func (w *wait) waited() time.Duration { return time.Since(w.begun).Round(time.Millisecond) }

// look returns the result if the condition holds now, or nil. The last look returns an error with
// the actual state.
func (w *wait) look(ctx context.Context, last bool) (*aai.Result, error) {
	result, err := w.toolset.withViewUnqueued(ctx, w.call, func(ctx context.Context, v *view) (*aai.Result, error) {
		v.withoutNewRefs, v.certainOnly = !last, true // accept only a certain match
		result, err := w.checkView(ctx, v)
		if instead := aai.AsError(err); instead != nil && instead.AppResponded && !last {
			return nil, nil
		}
		return result, err
	})
	if e := aai.AsError(err); e != nil && e.Code == aai.AppNotRunning && w.until == "vanishes" {
		return w.gone(), nil
	}
	return result, err
}

// checkView returns the result if the condition holds in the view. Otherwise it returns an error
// with AppResponded set.
func (w *wait) checkView(ctx context.Context, v *view) (*aai.Result, error) {
	m, err := v.findWithOffscreen(ctx, params.String(w.call, "query"))
	missing := false
	if e := aai.AsError(err); e != nil {
		if missing = e.Code == aai.ElementNotFound || e.Code == aai.StaleRef; !missing {
			return nil, err
		}
	} else if missing = !v.snapshot.IsVisible(m.index) && !v.snapshot.IsOffscreen(m.index); missing { // a ref of a hidden element
		err = guierr.Failed("", "%s is not showing", v.name(m.index))
	}
	switch {
	case missing && w.until == "vanishes":
		if err := v.uncertainError(); err != nil {
			return nil, err
		}
		return w.gone(), nil
	case missing:
		return nil, w.actualError(err)
	case w.until == "vanishes":
		return nil, w.actualError(guierr.Failed("", "%s is there", v.name(m.index)))
	case w.until != "appears":
		if wrong, err := w.differs(ctx, v, &m.index); err != nil {
			return nil, err
		} else if wrong != "" {
			return nil, w.actualError(guierr.Failed("", "%s %s", v.name(m.index), wrong))
		}
	}
	e := v.summarize(m.index)
	return &aai.Result{Text: v.foundText(ctx, m.index, ""), DataComplete: true, Data: map[string]any{
		"element_ref": e.Ref, "role": e.Role, "title": e.Title, "value": e.Value, "waited_ms": w.waited().Milliseconds(),
	}}, nil
}

// gone returns the result for a vanished element.
func (w *wait) gone() *aai.Result {
	waited := w.waited()
	return &aai.Result{Text: fmt.Sprintf("Gone after %s.", waited), DataComplete: true, Data: map[string]any{"waited_ms": waited.Milliseconds()}}
}

// actualError returns a timeout error with the actual state.
func (w *wait) actualError(err error) error {
	e := *aai.AsError(err)
	e.Code, e.AppResponded = aai.Timeout, true
	e.Message = fmt.Sprintf("waited %s: %s", w.waited(), e.Message)
	if e.Hint == "" {
		e.Hint = "ax_get_tree shows what is there."
	}
	return &e
}

// differs describes how the element differs from the condition; "" if it does not.
func (w *wait) differs(ctx context.Context, v *view, i *int) (string, error) {
	e, err := v.readComplete(ctx, i)
	if err != nil {
		return "", err
	}
	if w.until == "state" {
		if state := params.String(w.call, "state"); !hasState(&e, state) {
			return "is not " + state, nil
		}
		return "", nil
	}
	if e.States.Has(desktop.Protected) {
		return "", aai.Errorf(aai.InvalidParams, "value: the value of a password field is never read")
	}
	gateway.MarkNotSecret(ctx, "value")
	want := params.String(w.call, "value")
	if now := fieldtext.FullText(&e); !fieldtext.SameCell(fieldtext.Normalize(now), fieldtext.Normalize(want)) {
		return "has the value " + desktop.Quote(now, 100), nil
	}
	return "", nil
}

// hasState reports whether the element is in the named state.
func hasState(e *desktop.Element, word string) bool {
	switch word {
	case "disabled":
		return !e.States.Has(desktop.Enabled)
	case "unchecked":
		return !e.States.HasAny(desktop.Checked | desktop.Mixed)
	case "collapsed":
		return e.States.Has(desktop.Expandable) && !e.States.Has(desktop.Expanded)
	}
	return e.States.Has(desktop.ParseState(word))
}

// maxWait is the maximum wait of a call for a program to be idle.
const maxWait = 60 * time.Second

func (d *engine) waitIdleTool() spec {
	return spec{
		name: "ax_wait_idle", title: "Wait until idle", effect: aai.Reads,
		description: "Wait until a program's windows have not changed for a while.",
		params: appProp + `,
			"timeout_ms": {"type": "integer", "minimum": 1, "maximum": 60000, "default": 5000},
			"poll_ms": {"type": "integer", "minimum": 10, "maximum": 10000, "default": 100, "description": "How long it must be quiet"}`,
		required: `["app"]`, timeout: maxWait + callTimeout, concurrency: constantConcurrency(aai.Shared),
		run: d.waitIdle,
	}
}

// busyInterval is the time between two looks at a busy bar.
const busyInterval = 250 * time.Millisecond

// busyBar describes a progress bar of unknown length in the program's windows, such as Qt's, whose value is below its
// minimum; "" if there is none. It fails if the program cannot be read: a program that hangs is quiet too.
func (d *engine) busyBar(ctx context.Context, app desktop.App) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	shot, err := d.OpenBackend().Tree.Snapshot(ctx, app)
	if err != nil {
		return "", guierr.Unreadable(err)
	}
	for i := range shot.Elements {
		e := &shot.Elements[i]
		if e.Role != desktop.Progressbar || !shot.IsVisible(i) {
			continue
		}
		if fieldtext.ParseNumber(e.Value, e.Min) < e.Min {
			return desktop.Describe(e), nil
		}
	}
	return "", nil
}

// waitIdle waits by events, and until no busy bar shows. It does not hold the program's queue slot, so that
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
	seen, busy, idle := 0, "", false
	for {
		before := seen
		seen += watch.WaitUntilQuiet(watching, events, still, func(seen int) {
			gateway.Progress(ctx, time.Since(begun).Round(time.Millisecond).Seconds(), limit.Seconds(), "Not quiet yet, "+aai.Count(before+seen, "event"))
		})
		if ctx.Err() != nil { // the caller has gone
			return nil, ctx.Err()
		}
		if idle = watching.Err() == nil; !idle {
			break
		}
		if busy, err = d.busyBar(ctx, app); err != nil {
			return nil, err
		}
		if busy == "" {
			break
		}
		_ = aai.Sleep(watching, busyInterval) // the bar sends no events
	}
	waited := time.Since(begun).Round(time.Millisecond)
	text := fmt.Sprintf("%s was quiet for %s, after %s and %s", aai.CleanLabel(app.Name, 60), still, waited, aai.Count(seen, "event"))
	if !idle {
		text = fmt.Sprintf("%s was still changing after %s: %s", aai.CleanLabel(app.Name, 60), waited, aai.Count(seen, "event"))
	}
	if !idle && busy != "" {
		text += "; it shows " + busy + ", which is at work"
	}
	return &aai.Result{Text: text, DataComplete: true, Data: map[string]any{"idle": idle, "waited_ms": waited.Milliseconds(), "events": seen}}, nil
}
