package workflow

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/gybob/aai-gateway"
)

const (
	// eventName is the name of the event in the condition of a wait.
	eventName = "event"
	// waitName is the name of the values that a call of a wait needs. It is no valid name of a step.
	waitName = "step_wait"

	defaultEventWait = 30 * time.Second
	// maxEventCall is how long one call for events waits.
	maxEventCall = 50 * time.Second
	// eventPause is the pause after events that were not the expected one, and missingPause after a program was not found.
	eventPause, missingPause = 100 * time.Millisecond, 500 * time.Millisecond
)

// programEventsTool is the desktop's tool that reads the events of a program.
const programEventsTool = "ax_get_events"

// eventWait is a step that waits for an event of an app or a program.
type eventWait struct {
	app       string
	event     string // its type
	condition *condition
	timeout   time.Duration
}

// eventWait parses a wait, such as {"app": "org.example.Notes", "event": "added"}.
func (o *documentObject) eventWait(value any, usual string) *eventWait {
	members, ok := value.(map[string]any)
	if !ok {
		o.fail("wait_for", `expected an object such as {"app": "org.example.Notes", "event": "added"}`)
		return nil
	}
	in := &documentObject{place: o.place + ", wait_for", members: members}
	w := &eventWait{app: in.text(targetParam, 500), event: in.text("event", maxStepName), timeout: defaultEventWait}
	if w.app == "" {
		w.app = usual
	}
	if w.app == "" {
		in.fail(targetParam, "expected the app or the program")
	}
	if w.event == "" {
		in.fail("event", "expected the type of an event")
	}
	if ms := in.count("timeout_ms", int(maxWait/time.Millisecond)); ms > 0 {
		w.timeout = time.Duration(ms) * time.Millisecond
	}
	if given := members["when"]; given != nil {
		w.condition = in.condition(given, names{given: map[string]bool{eventName: true}})
	}
	in.done(targetParam, "event", "when", "timeout_ms")
	if o.fault == nil {
		o.fault = in.fault
	}
	return w
}

// waitStep completes a step that waits. It makes calls that read the events.
func (r *reader) waitStep(o *documentObject, s *Step) {
	for _, name := range []string{"tool", "app", "args", "for_each", "parallel", "check"} {
		if _, given := o.members[name]; given {
			o.fail(name, "a step with wait_for has no call itself")
		}
	}
	if s.wait = o.eventWait(o.members["wait_for"], r.app); s.wait == nil {
		return
	}
	value := func(name string) *template {
		return &template{parts: []part{{ref: &reference{of: waitName, path: []string{name}}}}}
	}
	s.App, s.Tool = aai.DesktopApp, programEventsTool
	s.args = map[string]any{
		targetParam: s.wait.app, "type": s.wait.event, "limit": 10_000, "after": value("after"), "wait_ms": value("wait_ms"),
	}
}

// resolveWait replaces the program of a wait by the app of that name that reports events, if there is one.
func (r *run) resolveWait(ctx context.Context, s *Step) {
	if s.wait == nil || s.App != aai.DesktopApp || r.call.Tool == DesktopToolName {
		return
	}
	if app, err := r.gateway.Catalog.Find(ctx, s.wait.app); err == nil && app.Tool(aai.EventsTool) != nil {
		s.App, s.Tool = app.ID, aai.EventsTool
		s.args = maps.Clone(s.args)
		delete(s.args, targetParam)
	}
}

// source identifies what the step waits for: waits of one source count its events one after the other.
func (w *eventWait) source() string { return w.app + "\x00" + w.event }

// markEvents stores the number of the last event before the step at index i runs, if the next step waits for a later
// one. Before the first step it does so for that step, too.
func (r *run) markEvents(ctx context.Context, i int, isFirst bool) {
	steps := r.doc.Steps
	if isFirst && steps[i].wait != nil {
		r.markEvent(ctx, steps[i])
	}
	if i+1 >= len(steps) || steps[i+1].wait == nil {
		return
	}
	if w := steps[i].wait; w == nil || w.source() != steps[i+1].wait.source() {
		r.markEvent(ctx, steps[i+1])
	}
}

// markEvent stores the number of the last event of a wait. A program that does not run has none.
func (r *run) markEvent(ctx context.Context, s *Step) {
	if r.lastEvents == nil {
		r.lastEvents = map[string]int{}
	}
	r.lastEvents[s.wait.source()] = 0
	if found, err := r.readEvents(ctx, s, 0, 0); err == nil {
		r.lastEvents[s.wait.source()] = found.last
	}
}

// foundEvents are the events that a call has read, and the number of the last event.
type foundEvents struct {
	events []map[string]any
	last   int
}

// readEvents makes the call of a wait.
func (r *run) readEvents(ctx context.Context, s *Step, after int, wait time.Duration) (foundEvents, *aai.Error) {
	v := stepValues{waitName: map[string]any{"after": after, "wait_ms": int(wait / time.Millisecond)}}
	result, err := aai.RetryRateLimited(ctx, maxRateLimitWait, func(ctx context.Context) (*aai.Result, error) { return r.admitted.run(ctx, s, v) })
	if err != nil {
		return foundEvents{}, aai.AsError(err)
	}
	r.noteForeign(result)
	value, _ := aai.ToJSONValue(result.Data)
	data, _ := value.(map[string]any)
	found := foundEvents{}
	found.last, _ = aai.WholeNumber(data["last"])
	list, _ := data["events"].([]any)
	for _, one := range list {
		if e, ok := one.(map[string]any); ok {
			found.events = append(found.events, e)
		}
	}
	return found, nil
}

// awaitEvent waits for the event of a step, and returns it.
func (r *run) awaitEvent(ctx context.Context, s *Step) (any, *aai.Error) {
	until := time.Now().Add(s.wait.timeout)
	after := r.lastEvents[s.wait.source()]
	for {
		found, err := r.readEvents(ctx, s, after, max(0, min(time.Until(until), maxEventCall)))
		pause := eventPause
		switch {
		case err != nil && (!isRetryable(err) && err.Code != aai.AppNotFound && err.Code != aai.AppNotRunning || ctx.Err() != nil):
			return nil, err
		case err != nil:
			pause = missingPause
		}
		for _, e := range found.events {
			if n, ok := aai.WholeNumber(e["number"]); ok {
				after = n
			}
			if s.wait.condition == nil || s.wait.condition.holds(stepValues{eventName: e}) {
				r.lastEvents[s.wait.source()] = after
				return e, nil
			}
		}
		if time.Now().After(until) {
			e := aai.Errorf(aai.Timeout, "no event %s of %s came within %s", aai.CleanLabel(s.wait.event, maxStepName), aai.CleanLabel(s.wait.app, 100), s.wait.timeout)
			e.Hint, e.Delivery = fmt.Sprintf("Read its events with %s of %s to see what happened.", s.Tool, s.App), aai.NotDelivered
			if err != nil {
				e.Message += ": " + err.Message
			}
			return nil, e
		}
		if err != nil || len(found.events) > 0 {
			_ = aai.Sleep(ctx, pause)
		}
	}
}
