package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// firstPause is the pause before a failed call is repeated for the first time. It doubles each
// time, up to maxPause.
const (
	firstPause = 100 * time.Millisecond
	maxPause   = 5 * time.Second
)

// runPart makes one call of a step that makes several, and records it in the store. It does not
// repeat a call that ended before.
func (r *run) runPart(ctx context.Context, s *Step, n int, v stepValues) (any, *aai.Error) {
	if before, ended := r.before[n]; ended {
		if before.State == Failed {
			r.noteMiss(before.Failure)
		}
		return before.Value, nil
	}
	record := &Record{Step: s.Number, Part: n, State: Begun, Reads: s.reads()}
	if err := r.store.Step(ctx, r.id, record); err != nil {
		return nil, storeError(err)
	}
	value, acts, failure := r.runCall(ctx, s, v)
	record = &Record{Step: s.Number, Part: n, State: Done, Reads: s.reads(), Value: value, Acts: acts}
	if failure != nil {
		record.State, record.Failure = Failed, failure.Error()
		if s.OnFail == Skip {
			record.Value = valueOfError(failure)
			r.noteMiss(record.Failure)
		}
	}
	if err := r.store.Step(context.WithoutCancel(ctx), r.id, record); err != nil {
		failure = storeError(err)
		failure.Delivery = aai.Delivered
	}
	return value, failure
}

// noteMiss counts a failed call that was skipped.
func (r *run) noteMiss(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.report.missed++; r.report.missed == 1 {
		r.report.firstMiss = why
	}
}

// runCall makes the call of a step, and retries it if that is safe and requested.
func (r *run) runCall(ctx context.Context, s *Step, v stepValues) (_ any, acts []Act, _ *aai.Error) {
	wait := firstPause
	for try := 0; ; try++ {
		result, err := aai.RetryRateLimited(ctx, maxRateLimitWait,
			func(ctx context.Context) (*aai.Result, error) { return r.callRecorded(ctx, s, v) })
		e := aai.AsError(err)
		acts = append(acts, r.note(s, result, e)...)
		if e == nil {
			r.noteForeign(result)
			return r.retain(result), acts, nil
		}
		if try >= s.Retry || !isRetryable(e) || ctx.Err() != nil {
			return nil, acts, e
		}
		_ = aai.Sleep(ctx, max(wait, min(e.RetryAfter, time.Minute)))
		wait = min(2*wait, maxPause)
	}
}

// isRetryable reports whether a repeated call is safe and may succeed.
func isRetryable(e *aai.Error) bool {
	switch e.Code {
	case aai.InvalidParams, aai.ToolNotFound, aai.PermissionDenied, aai.ConsentRequired, aai.AutomationNotSupported,
		aai.DescriptorInvalid, aai.ScriptParseError, aai.AuthRequired, aai.AuthExpired, aai.AuthDenied, aai.AuthInvalid,
		aai.RecordFailed, aai.Internal:
		return false
	}
	return e.RetrySafe()
}

// reads reports whether the step changes nothing.
func (s *Step) reads() bool {
	if s.showAgain != "" {
		return true
	}
	if s.Parallel != nil {
		return !slices.ContainsFunc(s.Parallel, func(one *Step) bool { return !one.reads() })
	}
	return s.tool.Effect == aai.Reads && !s.tool.Assessment(nil).MayStartProgram
}

// several reports whether the step makes several calls.
func (s *Step) several() bool { return s.Parallel != nil || s.forEach != nil }

// note records the act of a call, including a possible one.
func (r *run) note(s *Step, result *aai.Result, e *aai.Error) []Act {
	if s.reads() || e != nil && e.RetrySafe() || result != nil && result.NoOp {
		return nil
	}
	act := Act{step: s, Step: s.Label, App: s.App, Tool: s.Tool, Uncertain: e != nil}
	if result != nil {
		act.Undo = result.Undo
	}
	if e != nil && e.Undo != nil {
		act.Uncertain, act.Undo = false, e.Undo
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if act.ID = 1; len(r.acts) > 0 {
		act.ID = r.acts[len(r.acts)-1].ID + 1
	}
	r.acts = append(r.acts, act)
	return []Act{act}
}

// noteForeign records the untrusted source of the result.
func (r *run) noteForeign(result *aai.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if result.UntrustedSource != "" && !slices.Contains(r.report.foreign, result.UntrustedSource) {
		r.report.foreign = append(r.report.foreign, result.UntrustedSource)
	}
}

// each makes the call of a step once for each value of its list, and returns the list of their
// values.
func (r *run) each(ctx context.Context, s *Step) (any, *aai.Error) {
	filled, err := r.values.resolve(s.forEach)
	if err != nil {
		return nil, unresolvedError(s, err)
	}
	list, ok := filled.([]any)
	if !ok || len(list) > maxItems {
		return nil, unresolvedError(s, fmt.Errorf("for_each: expected a list of at most %d values", maxItems))
	}
	given := make([]any, 0, len(list))
	for i, item := range list {
		if err := canceledError(ctx, s); err != nil {
			return given, err
		}
		gateway.Progress(ctx, float64(s.Number)+float64(i)/float64(len(list)+1), float64(len(r.doc.Steps)),
			fmt.Sprintf("Step %d/%d: %s, %d of %d", s.Number, len(r.doc.Steps), s.summary(), i+1, len(list)))
		v := stepValues{itemName: item}
		for name, value := range r.values {
			v[name] = value
		}
		value, e := r.runPart(ctx, s, i+1, v)
		if e != nil {
			e = withSubject(e, fmt.Sprintf("value %d of %d: ", i+1, len(list)))
			if s.OnFail != Skip {
				return given, e
			}
			value = valueOfError(e)
		}
		given = append(given, value)
	}
	return given, nil
}

// group makes the calls of a group concurrently, and returns the list of their values. A failed
// call does not stop the others.
func (r *run) group(ctx context.Context, s *Step) (any, *aai.Error) {
	given, failed := make([]any, len(s.Parallel)), make([]*aai.Error, len(s.Parallel))
	var wait sync.WaitGroup
	for i, one := range s.Parallel {
		wait.Go(func() {
			if one.condition != nil && !one.condition.holds(r.values) {
				return
			}
			if given[i], failed[i] = r.runPart(ctx, one, i+1, r.values); failed[i] != nil {
				given[i] = valueOfError(failed[i])
			}
			if one.WaitAfter > 0 {
				_ = aai.Sleep(ctx, one.WaitAfter)
			}
		})
	}
	wait.Wait()
	for i, e := range failed {
		if e != nil && s.Parallel[i].OnFail != Skip {
			return given, withSubject(e, s.Parallel[i].Label+" ("+s.Parallel[i].summary()+"): ")
		}
	}
	return given, nil
}

// withSubject returns the error with its subject before the message.
func withSubject(e *aai.Error, what string) *aai.Error {
	said := *e
	said.Message = what + e.Message
	return &said
}

// unresolvedError returns the error of a step with unresolved values.
func unresolvedError(s *Step, err error) *aai.Error {
	e := aai.Errorf(aai.InvalidParams, "%s", err.Error())
	e.Delivery = aai.NotDelivered
	e.Hint = fmt.Sprintf("Check the results of the steps before %s: full: true shows them.", s.Label)
	return e
}

// maxRetained limits the step values that a workflow keeps, in bytes as JSON.
const maxRetained = 64 << 20

// retain returns the part of a result for later steps and the report, within maxRetained.
func (r *run) retain(result *aai.Result) any {
	size := len(result.Text)
	if b, err := json.Marshal(result.Data); err == nil {
		size += len(b)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.retainedBytes += size; r.retainedBytes <= maxRetained {
		return valueOf(result)
	}
	r.retainedBytes -= size
	r.report.warning = fmt.Sprintf("the steps' results exceed the %d MiB that a workflow keeps, so some are lost",
		maxRetained>>20)
	return map[string]any{"gone": r.report.warning}
}

// valueOf returns the value of a result for later steps: its data, or its text.
func valueOf(result *aai.Result) any {
	value, _ := aai.ToJSONValue(result.Data)
	if object, ok := value.(map[string]any); ok {
		if _, has := object["text"]; !has && result.Text != "" {
			object["text"] = result.Text
		}
		return object
	}
	if value == nil {
		return map[string]any{"text": result.Text}
	}
	return value
}

// valueOfError returns the value of a skipped failed step for later steps.
func valueOfError(e *aai.Error) any {
	return map[string]any{"error": map[string]any{"code": string(e.Code), "message": e.Message}}
}
