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

// only says why the target is not the one that the call is for.
func (c *Call) only(target *App) *Error {
	if c.Only == "" || target.ID == c.Only {
		return nil
	}
	e := Errorf(AppNotRunning, "this is for %s, and would be done to %s", CleanLabel(c.Only, maxName), CleanLabel(target.ID, maxName))
	e.Delivery, e.Hint = NotDelivered, "The program has ended since; look at what is there now."
	return e
}

// came is what the Action came to, with an Undo for the target of the call alone.
func (p *passage) came(result *Result, failure *Error) (*Result, *Error) {
	if failure != nil {
		if failure.Undo != nil {
			half := *failure
			half.Undo = failure.Undo.bound(p.r)
			failure = &half
		}
		return nil, p.careful(failure)
	}
	if result != nil && result.Undo != nil {
		whole := *result
		whole.Undo = result.Undo.bound(p.r)
		result = &whole
	}
	return checkReturns(p.r.Tool, result), nil
}

// bound is the Undo with its steps bound to the target of the request. One about another
// program, such as the window that had the keyboard before, stays as it is.
func (u *Undo) bound(of *Request) *Undo {
	if u == nil || !of.App.OperatesOthers() || of.OnScreen() {
		return u
	}
	undo := *u
	undo.Step = u.Step.bound(of)
	if undo.Look != nil {
		look := undo.Look.bound(of)
		undo.Look = &look
	}
	return &undo
}

func (s Step) bound(of *Request) Step {
	target := of.Call.Target
	if name, said := s.Args[of.Tool.Target].(string); !said || name == strconv.Itoa(target.PID) || target.Named(name) {
		s.Target = target.ID
	}
	return s
}

// Call returns the step as a call of the caller.
func (s Step) Call(caller Caller) *Call {
	return &Call{Caller: caller, App: s.App, Tool: s.Tool, Args: s.Args, Only: s.Target}
}

// An Undo says how what a call did is taken back. It is data, so that it can be kept:
// it holds no reference that ends with a conversation. The Action makes it that did the
// act, of what it saw before and after; one that cannot know makes none.
type Undo struct {
	// Says is what taking it back does, for people and models, such as
	// `Volume of org.example.Player is 0.4 again`.
	Says string `json:"says"`
	Step Step   `json:"step"` // takes it back
	// Look reads how the world is, and Left is what its Result.Data holds while nobody has
	// changed what the act left. Without Look it is what the Step's own Action tells
	// Call.Still; where that looks at nothing nobody can tell, and whoever takes it back
	// says so.
	Look *Step `json:"look,omitempty"`
	Left any   `json:"left,omitempty"`
	// Form marks the objects of Left that list only some members: an object at the same
	// place in Form. Members that such an object does not list are not compared. Everything
	// else in Left is compared whole.
	Form any `json:"form,omitempty"`
	// Stays is what the act changed and the Step leaves as it is, by name.
	Stays []string `json:"stays,omitempty"`
}
