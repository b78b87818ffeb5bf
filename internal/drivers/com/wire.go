package com

import (
	"time"

	"github.com/gybob/aai-gateway/internal/drivers/com/typelib"
)

// A Request is the work of one call for the process that runs it.
type Request struct {
	Steps []Step
	// Return lists the variables that the answer must have.
	Return []string
	// Deadline is the time by which the process reports the step that still runs, and ends.
	Deadline time.Time
	// Describe is a class: its type library is to be described, in the place of steps.
	Describe string
	// Start allows Describe to create an object of the class.
	Start bool
}

// The actions of a Step.
const (
	Create = "create"
	Call   = "call"
	Get    = "get"
	Set    = "set"
	List   = "list"
)

// A Step is one step, with its values in place.
type Step struct {
	Action string
	Var    string // receives the result
	Object string
	ProgID string
	Member string
	Args   []Operand
	// Names are the names of the last arguments; the others go by position.
	Names []string
	Value *Operand // of Set
	// Properties are those that Get reads of the object, or List of each item.
	Properties []string
	// Running attaches to the running instance of a class, in the place of a new one.
	Running bool
	// Programs allows a class that runs programs.
	Programs bool
}

// An Operand is a value, or the name of a variable that holds it.
type Operand struct {
	Var   string
	Value Variant
}

// A Reply is the answer to a Request.
type Reply struct {
	Values  []Variant // of Request.Return
	Last    Variant   // the result of the last step that has one
	Cut     bool      // a list has only its first items
	Failure *Failure
	// Library is that of Request.Describe.
	Library *typelib.Library
}

// MaxListed limits the items of a list.
const MaxListed = 1000

// A Failure is the failed step of a call.
type Failure struct {
	Step    int
	HRESULT uint32
	// Message is set for a failure that has no HRESULT.
	Message string
	// Source, Description and Code are those of the app, in an EXCEPINFO.
	Source      string
	Description string
	Code        uint32
	// Argument is the number of the wrong argument, from 1; 0: unknown.
	Argument int
	// Name is the name that the object does not know.
	Name string
	// Late reports that the time was over. HRESULT is then that of a busy app, or zero.
	Late bool
	// Denied reports that the class runs programs, and the consent does not say so.
	Denied bool
	// Begun reports that a step may have changed something before, or that this one did.
	Begun bool
}
