package gateway

import (
	"context"
	"strconv"
	"time"

	"github.com/gybob/aai-gateway"
)

// checkTarget returns an error if target is not the permitted target of the call.
func checkTarget(c *aai.Call, target *aai.App) *aai.Error {
	if c.OnlyTarget == "" || target.ID == c.OnlyTarget {
		return nil
	}
	e := aai.Errorf(aai.AppNotRunning, "this undo is for %s, but would act on %s", aai.CleanLabel(c.OnlyTarget, maxName), aai.CleanLabel(target.ID, maxName))
	e.Delivery, e.Hint = aai.NotDelivered, "The program has ended since; look at its windows now."
	return e
}

// finish returns the result of the Action, with the Undo bound to the target of the call.
func (p *invocation) finish(result *aai.Result, failure *aai.Error) (*aai.Result, *aai.Error) {
	if failure != nil {
		if failure.Undo != nil {
			half := *failure
			half.Undo = bindUndo(failure.Undo, p.request)
			failure = &half
		}
		return nil, p.withDelivery(failure)
	}
	if result != nil && result.Undo != nil {
		whole := *result
		whole.Undo = bindUndo(result.Undo, p.request)
		result = &whole
	}
	return checkReturns(p.request.Tool, result), nil
}

// bindTarget returns the Undo with its steps bound to the target of the request. A step for
// another program, such as the window that had the keyboard before, stays unchanged.
func bindUndo(u *aai.Undo, of *aai.Request) *aai.Undo {
	if u == nil || !of.App.OperatesOthers() || of.IsWholeScreen() {
		return u
	}
	undo := *u
	undo.Step = bindStep(u.Step, of)
	if undo.StateStep != nil {
		look := bindStep(*undo.StateStep, of)
		undo.StateStep = &look
	}
	return &undo
}

func bindStep(s aai.Step, of *aai.Request) aai.Step {
	target := of.Call.Target
	if name, said := s.Args[of.Tool.Target].(string); !said || name == strconv.Itoa(target.PID) || target.HasName(name) {
		s.Target = target.ID
	}
	return s
}

// A Mutation is a finished call that began its Action and may have changed something. With an
// error its effect may be missing or partial; see Code.
type Mutation struct {
	Call, Parent string
	Caller       aai.Caller
	Time         time.Time // end of the call
	// App, Tool, Target and Element are as in the call's Outcome entry.
	App, Tool, Target string
	Element           aai.TargetElement
	// Undo is from the Result, or from the Error if the call failed. Nil means that no way to
	// revert the call is known.
	Undo *aai.Undo
	// Code is the error code, "" for success. With a code the effect is uncertain. A call known
	// not to have reached the app is no Mutation.
	Code aai.Code
}

// MutationObserver receives finished mutations. It is safe for concurrent use.
type MutationObserver interface {
	// ObserveMutation receives each mutation once, after its outcome is recorded and before the
	// caller gets the result, so it must be quick. The context has the values of the call's
	// context and does not end. A call of a tool that only makes calls is no mutation; its inner
	// calls are.
	ObserveMutation(ctx context.Context, d *Mutation)
}

// notifyMutation reports the call to the observer if it is a mutation.
func (p *invocation) notifyMutation(e callResult) {
	if p.g.MutationObserver == nil {
		return
	}
	p.mu.Lock()
	about, ran, on, door := p.entry, p.ran(), p.element, p.ctx
	p.mu.Unlock()
	if !ran || about.Effect == aai.Reads || p.request.Assessment().OnlyMakesCalls || e.err != nil && e.err.Delivery == aai.NotDelivered {
		return
	}
	if e.err == nil && e.result != nil && e.result.NoOp {
		return
	}
	d := &Mutation{
		Call: about.Call, Parent: about.Parent, Caller: about.Caller, Time: time.Now(),
		App: about.App, Tool: about.Tool, Target: about.Target, Element: on,
	}
	if d.Element == (aai.TargetElement{}) {
		d.Element = about.Element
	}
	if e.err != nil {
		d.Code, d.Undo = e.err.Code, e.err.Undo
	} else if e.result != nil {
		d.Undo = e.result.Undo
	}
	defer func() { _ = recover() }() // a panic of the observer must not affect the call
	p.g.MutationObserver.ObserveMutation(context.WithoutCancel(door), d)
}
