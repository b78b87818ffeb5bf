package workflow

import (
	"context"
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/undo"
)

// rollBack undoes the acts, the newest first. It continues after failures and reports them. It
// returns the new state of the run.
func (r *run) rollBack(ctx context.Context) State {
	for _, act := range slices.Backward(r.acts) {
		r.report.addUndone(act, r.undoAct(ctx, act))
	}
	r.report.rolledBack = true
	if slices.ContainsFunc(r.report.undone, func(b undoneAct) bool { return !b.Undone }) {
		return PartlyRolledBack
	}
	return RolledBack
}

// undoAction returns the function that makes undo calls. It uses the step's admission, so that the
// user does not answer again, and waits for the caller's rate limit.
func (r *run) undoAction(act Act) undo.DoFunc {
	return func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		if r.admitted == nil || act.step == nil {
			return r.do(ctx, call)
		}
		result, err := aai.RetryRateLimited(ctx, maxRateLimitWait,
			func(ctx context.Context) (*aai.Result, error) { return r.admitted.undo(ctx, act.step, call) })
		if e := aai.AsError(err); e != nil && e.Code == aai.ConsentRequired {
			return r.do(ctx, call)
		}
		return result, err
	}
}

// do makes a separate call, and waits for the caller's rate limit.
func (r *run) do(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	return aai.RetryRateLimited(ctx, maxRateLimitWait,
		func(ctx context.Context) (*aai.Result, error) { return r.gateway.Do(ctx, call) })
}

// undoAct undoes an act and records it in the store. It retries an earlier attempt with unknown
// outcome only if the state can be read.
func (r *run) undoAct(ctx context.Context, act Act) undo.Outcome {
	switch {
	case act.UndoStatus == undo.StatusUndone:
		return undo.Outcome{Status: undo.StatusUndone, Message: "it was undone before"}
	case act.UndoStatus == undo.StatusPartial:
		return undo.Outcome{Status: undo.StatusPartial, Message: "it was undone in part before"}
	case act.Uncertain:
		return undo.Outcome{Status: undo.StatusIrreversible, Message: "it is unknown whether it was done"}
	case act.Undo == nil || act.Undo.Step.Tool == "":
		return undo.Revert(ctx, r.do, r.call.Caller, nil)
	case act.UndoStatus == undo.StatusUnknown && act.Undo.StateStep == nil:
		return undo.Outcome{Status: undo.StatusUnknown, Message: "it may be undone already; its state cannot be checked"}
	}
	if err := r.store.UndoAct(ctx, r.id, &UndoRecord{Act: act.ID, Status: undo.StatusUnknown}); err != nil {
		return undo.Outcome{Status: undo.StatusFailed, Message: storeError(err).Message}
	}
	o := undo.Revert(ctx, r.undoAction(act), r.call.Caller, act.Undo)
	if err := r.store.UndoAct(context.WithoutCancel(ctx), r.id,
		&UndoRecord{Act: act.ID, Status: o.Status, Says: o.Message}); err != nil {
		r.report.warning = storeError(err).Message
	}
	return o
}

// undoneAct is the result of undoing an act.
type undoneAct struct {
	Step   string `json:"step"`
	Tool   string `json:"tool"`
	Undone bool   `json:"undone"`
	Says   string `json:"says"`
}

func (p *report) addUndone(act Act, o undo.Outcome) {
	p.undone = append(p.undone, undoneAct{act.Step, act.Tool, o.IsUndone(), aai.CleanLabel(o.Message, maxStepSummary)})
}
