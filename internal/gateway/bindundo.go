package gateway

import (
	"strconv"

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
