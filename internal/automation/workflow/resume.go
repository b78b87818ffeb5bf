package workflow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

// StoredRun is a run as a store returns it, to resume it or roll it back.
type StoredRun struct {
	Run     *Run
	State   State    // of the run
	Records []Record // by step; the calls of a step come before the step itself
}

// uncertainCall is a call that may or may not have been made.
type uncertainCall struct {
	step  *Step
	part  int // as in Record
	label string
}

// Resume resumes the interrupted run k on behalf of call. It does not repeat completed steps. The
// interrupted step's check decides whether the step was done; without a result of the check, said
// decides. If said is nil too, Resume runs nothing and returns an error that asks for it.
func (c Config) Resume(ctx context.Context, call *aai.Call, k *StoredRun, said *bool) (*aai.Result, error) {
	if k.State == Done || k.State == RolledBack || k.State == PartlyRolledBack {
		return nil, endedRunError(k, "resumed")
	}
	r, first, err := c.resumeRun(ctx, call, k)
	if err != nil {
		return nil, err
	}
	before, err := r.settleDoubts(ctx, k, first, said)
	if err == nil {
		first, err = r.nextStep(first, before)
	}
	if err != nil {
		_ = r.store.End(context.WithoutCancel(ctx), r.id, Interrupted) // unchanged
		return nil, err
	}
	return c.Execute(ctx, call, k.Run.Document,
		ResumePoint{Run: k.Run.ID, Step: first, Before: before, Params: k.Run.Params})
}

// resumeRun takes over a run, and returns the first of its steps that has not ended.
func (c Config) resumeRun(ctx context.Context, call *aai.Call, k *StoredRun) (*run, int, error) {
	r := &run{
		id: k.Run.ID, gateway: c.Gateway(), store: c.store(), call: call, doc: k.Run.Document,
		values: stepValues{}, before: map[int]Record{}, report: newReport(k.Run.Document, call),
	}
	if k.Run.Params != nil {
		r.values[paramsName] = k.Run.Params
	}
	first := 1
	for first <= len(r.doc.Steps) && isComplete(k.record(first, 0)) {
		first++
	}
	r.restore(ResumePoint{Step: first, Before: k.ended(first)})
	if err := r.store.Begin(ctx, k.Run); err != nil {
		return nil, 0, err
	}
	return r, first, nil
}

// record returns the record of a step, or of a call of one, or nil.
func (k *StoredRun) record(step, part int) *Record {
	for i := range k.Records {
		if k.Records[i].Step == step && k.Records[i].Part == part {
			return &k.Records[i]
		}
	}
	return nil
}

// ended returns the records of the steps before first, and of the ended calls of step first.
func (k *StoredRun) ended(first int) []Record {
	var all []Record
	for i := range k.Records {
		if one := k.Records[i]; one.Step < first || one.Step == first && one.Part > 0 && isComplete(&one) {
			all = append(all, one)
		}
	}
	return all
}

// isComplete reports whether a step or call needs no further work: it was done, skipped by its
// condition, or failed and was skipped.
func isComplete(r *Record) bool {
	return r != nil && (r.State == Done || r.State == Skipped || r.State == Failed && r.Value != nil && !isUncertain(r))
}

func isUncertain(r *Record) bool {
	for _, act := range r.Acts {
		if act.Uncertain {
			return true
		}
	}
	return false
}

// uncertainCalls returns the calls of a step that may or may not have been made.
func (k *StoredRun) uncertainCalls(s *Step) (all []uncertainCall) {
	for i := range k.Records {
		r := &k.Records[i]
		open := r.State == Begun || r.State == Failed && isUncertain(r)
		if r.Step != s.Number || r.Reads || r.Part == 0 && s.several() || !open {
			continue
		}
		d := uncertainCall{step: s, part: r.Part, label: s.Label}
		switch {
		case s.Parallel != nil && r.Part <= len(s.Parallel):
			d.step = s.Parallel[r.Part-1]
			d.label = d.step.Label
		case r.Part > 0:
			d.label = fmt.Sprintf("%s, value %d", s.Label, r.Part)
		}
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b uncertainCall) int { return a.part - b.part })
	return all
}

// settleDoubts determines the completed calls of the interrupted step, and returns all completed
// records.
func (r *run) settleDoubts(ctx context.Context, k *StoredRun, first int, said *bool) ([]Record, error) {
	before := k.ended(first)
	if first > len(r.doc.Steps) {
		return before, nil
	}
	s := r.doc.Steps[first-1]
	var open []string
	for _, d := range k.uncertainCalls(s) {
		happened, err := r.wasMade(ctx, d)
		if err != nil && said != nil {
			happened, err = *said, nil
		}
		if err != nil {
			open = append(open, fmt.Sprintf("%s (%s): %s", d.label, d.step.summary(), err.Error()))
			continue
		}
		if !happened {
			continue
		}
		// it has no undo, which was in the lost result
		record := Record{Step: first, Part: d.part, State: Done,
			Acts: []Act{{ID: r.nextAct(), Step: d.label, App: d.step.App, Tool: d.step.Tool}}}
		r.acts = append(r.acts, record.Acts...)
		if err := r.store.Step(ctx, r.id, &record); err != nil {
			return nil, storeError(err)
		}
		before = append(before, record)
	}
	if len(open) > 0 {
		return nil, uncertainError(k, open)
	}
	return before, nil
}

// wasMade reports whether a call was made.
func (r *run) wasMade(ctx context.Context, d uncertainCall) (bool, error) {
	if d.step.doneCheck == nil {
		return false, errors.New("it has no check")
	}
	v := stepValues{}
	for name, value := range r.values {
		v[name] = value
	}
	if d.step.forEach != nil {
		list, err := r.values.resolve(d.step.forEach)
		if err != nil {
			return false, err
		}
		items, _ := list.([]any)
		if d.part > len(items) {
			return false, fmt.Errorf("there is no value %d any more", d.part)
		}
		v[itemName] = items[d.part-1]
	}
	return d.step.doneCheck.wasDone(ctx, r, v)
}

// nextStep returns the step to resume at, or an error if later steps need a lost value.
func (r *run) nextStep(first int, before []Record) (int, error) {
	for _, record := range before {
		if record.Step == first && record.Part == 0 {
			first++
		}
	}
	s, value := r.doc.firstMissing(r.values, first)
	if s == nil {
		return first, nil
	}
	e := aai.Errorf(aai.InvalidParams, "%s needs {{%s}}, but that step's result was lost", s.Label, value)
	e.Delivery, e.Hint = aai.NotDelivered, "Roll the run back, or run the rest as another workflow."
	return 0, e
}

func (r *run) nextAct() int {
	most := 0
	for _, act := range r.acts {
		most = max(most, act.ID)
	}
	return most + 1
}

// RollBack undoes the acts of the stored run k, the newest first, on behalf of call. It returns a
// report of the rollback.
func (c Config) RollBack(ctx context.Context, call *aai.Call, k *StoredRun) (*aai.Result, error) {
	r, first, err := c.resumeRun(ctx, call, k)
	if err != nil {
		return nil, err
	}
	if first <= len(r.doc.Steps) {
		for _, d := range k.uncertainCalls(r.doc.Steps[first-1]) {
			if happened, err := r.wasMade(ctx, d); err == nil && !happened {
				continue
			}
			r.acts = append(r.acts, Act{ID: r.nextAct(), Step: d.label, App: d.step.App, Tool: d.step.Tool, Uncertain: true})
		}
	}
	if err := r.store.End(context.WithoutCancel(ctx), r.id, r.rollBack(ctx)); err != nil {
		r.report.warning = storeError(err).Message
	}
	return r.report.rollbackResult(), nil
}

// rollbackResult returns the report of a later rollback.
func (p *report) rollbackResult() *aai.Result {
	took := 0
	var left strings.Builder
	for _, b := range p.undone {
		if b.Undone {
			took++
			continue
		}
		fmt.Fprintf(&left, "\nnot undone: %s (%s): %s", b.Step, b.Tool, b.Says)
	}
	data := map[string]any{"taken_back": took, "left": len(p.undone) - took, "rollback": p.undone}
	return &aai.Result{Text: fmt.Sprintf("%s: %d of %s undone%s", p.title(), took, aai.Count(len(p.undone), "act"),
		left.String()), Data: data, DataComplete: true, Warning: p.warning}
}

// uncertainError returns the error of a run that cannot resume because of uncertain calls.
func uncertainError(k *StoredRun, open []string) error {
	e := aai.Errorf(aai.AutomationFailed, "run %s was interrupted, and it is unknown whether this was done: %s; nothing "+
		"was run", k.Run.ID, strings.Join(open, "; "))
	e.Delivery = aai.NotDelivered
	e.Hint = "Check the app, or ask the person. Then resume with happened: true or false (--happened, --not-happened)."
	return e
}

// endedRunError returns the error of a run that has ended.
func endedRunError(k *StoredRun, what string) error {
	e := aai.Errorf(aai.InvalidParams, "run %s has ended (%s), so it cannot be %s", k.Run.ID, k.State, what)
	e.Delivery = aai.NotDelivered
	return e
}
