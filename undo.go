package aai

// A Step is a call in stored form, without a caller: an Undo makes it later.
type Step struct {
	App  string         `json:"app"` // as in Call.App
	Tool string         `json:"tool"`
	Args map[string]any `json:"args,omitempty"`
	// Target is the id of the intended program, if known, since its process id may be reused
	// later. "" means that the arguments decide.
	Target string `json:"target,omitempty"`
}

// Call returns the call that the step describes, made by caller and limited to the step's Target.
func (s Step) Call(caller Caller) *Call {
	return &Call{Caller: caller, App: s.App, Tool: s.Tool, Args: s.Args, OnlyTarget: s.Target}
}

// An Undo describes how to revert a call. It can be stored, so it contains no element ref, which
// would end with its conversation. The Action creates it from the state before and after the
// change; an Action that cannot read that state creates none.
type Undo struct {
	// Description is the effect of the undo for people and models, such as `Volume of
	// org.example.Player is 0.4 again`.
	Description string `json:"says"`
	Step        Step   `json:"step"` // reverts the call
	// StateStep reads the current state, and ExpectedState is its Result.Data while the effect of
	// the call is unchanged. Without StateStep it is the value that the Step's own Action passes
	// to Call.CheckUnchanged. If that Action reads nothing, the check is impossible, and the undo
	// must say this.
	StateStep     *Step `json:"look,omitempty"`
	ExpectedState any   `json:"left,omitempty"`
	// ExpectedShape marks the objects of ExpectedState that list only some members, by an object
	// at the same place. Members that such an object does not list are not compared. Everything
	// else is compared completely.
	ExpectedShape any `json:"form,omitempty"`
	// NotRestored lists the names of changes that the Step does not revert.
	NotRestored []string `json:"stays,omitempty"`
}
