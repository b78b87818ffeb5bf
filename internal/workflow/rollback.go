package workflow

import (
	"context"
	"slices"

	"aai"
	"aai/internal/undo"
)

// rollBack takes back what was done, the newest first. Nothing stops it: what cannot be taken
// back is said. It returns what the run is then.
func (r *run) rollBack(ctx context.Context) State {
	for _, act := range slices.Backward(r.acts) {
		r.report.takenBack(act, r.takeBack(ctx, act))
	}
	r.report.rolledBack = true
	if slices.ContainsFunc(r.report.backs, func(b back) bool { return !b.Undone }) {
		return PartlyBack
	}
	return RolledBack
}

// backOf makes the calls that take an act back: what was admitted with it is not asked about
// again. They wait where their caller calls too often.
func (r *run) backOf(act Act) undo.Do {
	return func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		if r.leave == nil || act.step == nil {
			return r.do(ctx, call)
		}
		result, err := aai.Patiently(ctx, maxLimited, func(ctx context.Context) (*aai.Result, error) { return r.leave.takeBack(ctx, act.step, call) })
		if e := aai.AsError(err); e != nil && e.Code == aai.ConsentRequired {
			return r.do(ctx, call)
		}
		return result, err
	}
}

// do makes a call of its own. It waits where its caller calls too often.
func (r *run) do(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	return aai.Patiently(ctx, maxLimited, func(ctx context.Context) (*aai.Result, error) { return r.gateway.Do(ctx, call) })
}

// takeBack takes an act back, and has the store know of it: what may have been taken back
// before is tried again only where it can be looked at.
func (r *run) takeBack(ctx context.Context, act Act) undo.Outcome {
	switch {
	case act.Taken == undo.Undone:
		return undo.Outcome{Status: undo.Undone, Says: "it was taken back before"}
	case act.Taken == undo.Partly:
		return undo.Outcome{Status: undo.Partly, Says: "it was taken back in part before"}
	case act.Unsure:
		return undo.Outcome{Status: undo.Never, Says: "it is not known whether it was done"}
	case act.Undo == nil || act.Undo.Step.Tool == "":
		return undo.Back(ctx, r.do, r.call.Caller, nil)
	case act.Taken == undo.Unsure && act.Undo.Look == nil:
		return undo.Outcome{Status: undo.Unsure, Says: "it may have been taken back before, and nobody can look"}
	}
	if err := r.store.Back(ctx, r.id, &Taking{Act: act.ID, Status: undo.Unsure}); err != nil {
		return undo.Outcome{Status: undo.Failed, Says: notKept(err).Message}
	}
	o := undo.Back(ctx, r.backOf(act), r.call.Caller, act.Undo)
	if err := r.store.Back(context.WithoutCancel(ctx), r.id, &Taking{Act: act.ID, Status: o.Status, Says: o.Says}); err != nil {
		r.report.warning = notKept(err).Message
	}
	return o
}

// back is what became of an act that was to be taken back.
type back struct {
	Step   string `json:"step"`
	Tool   string `json:"tool"`
	Undone bool   `json:"undone"`
	Says   string `json:"says"`
}

func (p *report) takenBack(act Act, o undo.Outcome) {
	p.backs = append(p.backs, back{act.Step, act.Tool, o.Done(), aai.CleanLabel(o.Says, maxSaid)})
}
