package aai

import "strconv"

// A Step is a call as data: what is asked for, by nobody yet.
type Step struct {
	App  string         `json:"app"` // as in Call.App
	Tool string         `json:"tool"`
	Args map[string]any `json:"args,omitempty"`
	// Target is the program that it is for, by its id, where the gateway knows: a process of
	// that number may be another one by then. "": whatever the arguments name.
	Target string `json:"target,omitempty"`
}

// checkTarget says why the target is not the one that the call is for.
func (c *Call) checkTarget(target *App) *Error {
	if c.OnlyTarget == "" || target.ID == c.OnlyTarget {
		return nil
	}
	e := Errorf(AppNotRunning, "this is for %s, and would be done to %s", CleanLabel(c.OnlyTarget, maxName), CleanLabel(target.ID, maxName))
	e.Delivery, e.Hint = NotDelivered, "The program has ended since; look at what is there now."
	return e
}

// finish is what the Action came to, with an Undo for the target of the call alone.
func (p *invocation) finish(result *Result, failure *Error) (*Result, *Error) {
	if failure != nil {
		if failure.Undo != nil {
			half := *failure
			half.Undo = failure.Undo.bindTarget(p.request)
			failure = &half
		}
		return nil, p.withDelivery(failure)
	}
	if result != nil && result.Undo != nil {
		whole := *result
		whole.Undo = result.Undo.bindTarget(p.request)
		result = &whole
	}
	return checkReturns(p.request.Tool, result), nil
}

// bindTarget is the Undo with its steps bound to the target of the request. One about another
// program, such as the window that had the keyboard before, stays as it is.
func (u *Undo) bindTarget(of *Request) *Undo {
	if u == nil || !of.App.OperatesOthers() || of.IsWholeScreen() {
		return u
	}
	undo := *u
	undo.Step = u.Step.bindTarget(of)
	if undo.StateStep != nil {
		look := undo.StateStep.bindTarget(of)
		undo.StateStep = &look
	}
	return &undo
}

func (s Step) bindTarget(of *Request) Step {
	target := of.Call.Target
	if name, said := s.Args[of.Tool.Target].(string); !said || name == strconv.Itoa(target.PID) || target.HasName(name) {
		s.Target = target.ID
	}
	return s
}

// Call returns the step as a call of the caller.
func (s Step) Call(caller Caller) *Call {
	return &Call{Caller: caller, App: s.App, Tool: s.Tool, Args: s.Args, OnlyTarget: s.Target}
}

// An Undo says how what a call did is taken back. It is data, so that it can be kept:
// it holds no reference that ends with a conversation. The Action makes it that did the
// act, of what it saw before and after; one that cannot know makes none.
type Undo struct {
	// Description is what taking it back does, for people and models, such as
	// `Volume of org.example.Player is 0.4 again`.
	Description string `json:"says"`
	Step        Step   `json:"step"` // takes it back
	// StateStep reads how the world is, and Left is what its Result.Data holds while nobody has
	// changed what the act left. Without Look it is what the Step's own Action tells
	// Call.Still; where that looks at nothing nobody can tell, and whoever takes it back
	// says so.
	StateStep     *Step `json:"look,omitempty"`
	ExpectedState any   `json:"left,omitempty"`
	// ExpectedShape marks the objects of Left that list only some members: an object at the same
	// place in Form. Members that such an object does not list are not compared. Everything
	// else in Left is compared whole.
	ExpectedShape any `json:"form,omitempty"`
	// NotRestored is what the act changed and the Step leaves as it is, by name.
	NotRestored []string `json:"stays,omitempty"`
}
