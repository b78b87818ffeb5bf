package workflow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// Config holds the dependencies of workflows.
type Config struct {
	// Gateway returns the gateway for the calls. It is called for each workflow, because the
	// gateway is created after its apps.
	Gateway func() *gateway.Gateway
	Store   Store // nil: nothing is stored
	// Recordings is the folder of the person's recordings; "": there are none. IsRecording reports whether the file of that
	// name is being recorded; nil: none is.
	Recordings  string
	IsRecording func(name string) bool
}

const (
	// lifetime limits a workflow, and taskLifetime a workflow as a task. A tool's additional time
	// is for the rollback.
	lifetime     = 5 * time.Minute
	taskLifetime = 24 * time.Hour
	// rollbackTime limits the rollback, also after the caller has left.
	rollbackTime = time.Minute
)

// run is a running workflow.
type run struct {
	id       string
	gateway  *gateway.Gateway
	store    Store
	call     *aai.Call // the outer one
	doc      *Document
	admitted *admittedCalls
	values   stepValues // of the ended steps; changed only between steps
	report   *report
	before   map[int]Record // calls of the first step that ended before
	// lastEvents are the numbers after which waits for events begin, by their source.
	lastEvents map[string]int

	mu            sync.Mutex // guards the fields below
	acts          []Act      // of all steps
	retainedBytes int        // bytes of the step values
}

// Execute runs a document for the given call: it checks and admits all steps, then runs them in
// order. If a step fails, the error names the step, its effects and the rollback; its Data is the
// report.
func (c Config) Execute(ctx context.Context, call *aai.Call, d *Document, from ResumePoint) (*aai.Result, error) {
	r := &run{
		id: cmp.Or(from.Run, call.ID), gateway: c.Gateway(), store: c.store(), call: call,
		values: stepValues{}, before: map[int]Record{},
	}
	first := max(1, from.Step)
	if err := r.prepare(ctx, d, from); err != nil {
		return nil, err
	}
	defer r.admitted.release()
	if from.Run == "" {
		if err := r.store.Begin(ctx, &Run{ID: r.id, Caller: call.Caller, App: call.App, Document: d,
			Params: from.Params}); err != nil {
			return nil, storeError(err)
		}
	}
	return r.steps(ctx, first)
}

// prepare prepares a workflow up to its first step: it binds, checks and admits it.
func (r *run) prepare(ctx context.Context, d *Document, from ResumePoint) (err error) {
	defer func() {
		if err != nil && from.Run != "" {
			_ = r.store.End(context.WithoutCancel(ctx), r.id, Interrupted) // unchanged
		}
	}()
	if from.Params != nil {
		r.values[paramsName] = from.Params
	}
	r.doc, r.report = d, newReport(d, r.call)
	r.restore(from)
	if r.doc, err = d.bind(r.values, max(1, from.Step)); err != nil {
		return err
	}
	if err := r.resolve(ctx); err != nil {
		return err
	}
	r.admitted, err = r.admitResumed(ctx, from)
	return err
}

func (c Config) store() Store {
	if c.Store == nil {
		return noStore{}
	}
	return c.Store
}

// restore applies the records of earlier steps.
func (r *run) restore(from ResumePoint) {
	var parts []Record // of the next step
	for _, record := range from.Before {
		if record.Step < 1 || record.Step > len(r.doc.Steps) {
			continue
		}
		s := r.doc.Steps[record.Step-1]
		r.acts = append(r.acts, record.Acts...)
		if record.Part > 0 {
			r.report.counts(record.Acts)
			parts = append(parts, record)
			if record.Step == from.Step {
				r.before[record.Part] = record
			}
			continue
		}
		if record.Value == nil && record.State == Done && s.several() {
			record.Value = valuesOfParts(s, parts)
		}
		parts = nil
		r.report.addEarlier(s, record)
		if record.Value != nil { // a step confirmed by its check has no value
			r.publishValue(s, record.Value)
		}
	}
}

// valuesOfParts returns the value of a step of several calls, which its record lacks because each
// call's record has its part.
func valuesOfParts(s *Step, parts []Record) []any {
	values := make([]any, len(s.Parallel))
	for _, one := range parts {
		for len(values) < one.Part {
			values = append(values, nil)
		}
		values[one.Part-1] = one.Value
	}
	return values
}

// publishValue makes the values of s available to later steps. They are data: {{secret:NAME}} in them names no secret.
func (r *run) publishValue(s *Step, value any) {
	value, _ = gateway.MapLeaves(value, func(part any) (any, error) {
		if text, is := part.(string); is {
			return gateway.EscapeSecrets(text), nil
		}
		return part, nil
	})
	r.values[fmt.Sprintf("step_%d", s.Number)] = value
	if s.Name != "" {
		r.values[s.Name] = value
	}
	list, _ := value.([]any)
	for i, one := range s.Parallel {
		if one.Name != "" && i < len(list) {
			r.values[one.Name] = list[i]
		}
	}
}

// steps runs the steps from first on, and returns the result of the workflow.
func (r *run) steps(door context.Context, first int) (*aai.Result, error) {
	until := time.Now().Add(lifetime)
	if ends, ok := door.Deadline(); ok {
		until = ends.Add(-rollbackTime)
	}
	ctx, cancel := context.WithDeadline(door, until)
	defer cancel()
	total := float64(len(r.doc.Steps))
	for i, s := range r.doc.Steps {
		if i < first-1 {
			continue
		}
		r.markEvents(ctx, i, i == first-1)
		gateway.Progress(ctx, float64(s.Number), total,
			fmt.Sprintf("Step %d/%d: %s", s.Number, len(r.doc.Steps), s.summary()))
		err := r.runStep(ctx, s)
		if err == nil {
			err = canceledError(ctx, s)
		}
		r.before = nil
		if err != nil && (s.OnFail != Skip || ctx.Err() != nil || err.Code == aai.RecordFailed) {
			return nil, r.fail(door, s, err)
		}
	}
	if err := r.store.End(context.WithoutCancel(door), r.id, Done); err != nil {
		r.report.warning = storeError(err).Message
	}
	return r.report.result(), nil
}

// runStep runs a step, and records it in the store.
func (r *run) runStep(ctx context.Context, s *Step) *aai.Error {
	if err := canceledError(ctx, s); err != nil {
		return err
	}
	if err := r.store.Step(ctx, r.id, &Record{Step: s.Number, State: Begun, Reads: s.reads()}); err != nil {
		return storeError(err)
	}
	before := len(r.acts)
	record := &Record{Step: s.Number, State: Skipped, Reads: s.reads()}
	var failure *aai.Error
	if s.condition == nil || s.condition.holds(r.values) {
		record.Value, failure = r.executeStep(ctx, s)
		record.State = Done
	}
	if failure != nil {
		record.State, record.Failure = Failed, failure.Error()
		if s.OnFail == Skip {
			record.Value = valueOfError(failure)
		}
	}
	if record.State != Skipped && (failure == nil || s.OnFail == Skip) {
		r.publishValue(s, record.Value)
	}
	record.Acts = r.acts[before:]
	r.report.addStep(s, record, failure)
	if s.several() {
		record.Acts = nil // its calls have them, and their values
		if failure == nil {
			record.Value = nil
		}
	}
	if err := r.store.Step(context.WithoutCancel(ctx), r.id, record); err != nil {
		failure = storeError(err)
		failure.Delivery = aai.Delivered
	}
	if failure == nil && s.WaitAfter > 0 {
		_ = aai.Sleep(ctx, s.WaitAfter)
	}
	return failure
}

// executeStep runs a step after its condition.
func (r *run) executeStep(ctx context.Context, s *Step) (any, *aai.Error) {
	switch {
	case s.wait != nil:
		return r.awaitEvent(ctx, s)
	case s.showAgain != "":
		return nil, s.showAgainError()
	case s.Parallel != nil:
		return r.group(ctx, s)
	case s.forEach != nil:
		return r.each(ctx, s)
	}
	value, _, err := r.runCall(ctx, s, r.values)
	return value, err
}

// fail ends the workflow at a failed step.
func (r *run) fail(door context.Context, s *Step, cause *aai.Error) error {
	state := Failed
	if s.OnFail == Rollback {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(door), rollbackTime)
		defer cancel()
		state = r.rollBack(ctx)
	}
	if err := r.store.End(context.WithoutCancel(door), r.id, state); err != nil {
		r.report.warning = storeError(err).Message
	}
	return r.report.failure(s, cause)
}

// canceledError returns the error of a step that did not start because ctx ended.
func canceledError(ctx context.Context, s *Step) *aai.Error {
	cause := ctx.Err()
	if cause == nil {
		return nil
	}
	if errors.Is(cause, context.DeadlineExceeded) {
		e := aai.Errorf(aai.Timeout, "the workflow's time was over at %s", s.Label)
		e.Delivery = aai.NotDelivered
		return e
	}
	e := *aai.AsError(cause)
	e.Delivery = aai.NotDelivered
	return &e
}

func storeError(cause error) *aai.Error {
	e := aai.Errorf(aai.RecordFailed, "the workflow stopped, since its progress could not be stored: %w", cause)
	e.Hint = "Check that the disk has space and the gateway's data folder is writable."
	if full, ok := errors.AsType[*aai.Error](cause); ok && full.Hint != "" {
		e.Hint = full.Hint
	}
	return e
}

// summary describes the step in short.
func (s *Step) summary() string {
	if s.Parallel != nil {
		return aai.Count(len(s.Parallel), "call") + " side by side"
	}
	if s.showAgain != "" {
		return "a step to show again"
	}
	return aai.CleanLabel(s.Tool, maxStepName)
}
