package com

import (
	"time"

	"github.com/gybob/aai-gateway/internal/drivers/com/typelib"
)

// A Request is the work of one call for the process that runs it: one line of JSON.
type Request struct {
	Steps []Step `json:"steps,omitempty"`
	// Return lists the variables that the answer must have.
	Return []string `json:"return,omitempty"`
	// Deadline is the time by which the process reports the step that still runs, and ends.
	Deadline time.Time `json:"deadline"`
	// Describe is a class: its type library is to be described, in the place of steps.
	Describe string `json:"describe,omitempty"`
	// Start allows Describe to create an object of the class.
	Start bool `json:"start,omitempty"`
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
	Action string    `json:"do"`
	Var    string    `json:"var,omitempty"` // receives the result
	Object string    `json:"on,omitempty"`
	ProgID string    `json:"class,omitempty"`
	Member string    `json:"member,omitempty"`
	Args   []Operand `json:"args,omitempty"`
	// Names are the names of the last arguments; the others go by position.
	Names []string `json:"names,omitempty"`
	Value *Operand `json:"value,omitempty"` // of Set
	// Properties are those that Get reads of the object, or List of each item.
	Properties []string `json:"props,omitempty"`
	// Running attaches to the running instance of a class, in the place of a new one.
	Running bool `json:"running,omitempty"`
	// Programs allows a class that runs programs.
	Programs bool `json:"programs,omitempty"`
}

// An Operand is a value, or the name of a variable that holds it.
type Operand struct {
	Var   string  `json:"var,omitempty"`
	Value Variant `json:"v,omitzero"`
}

// A Reply is the answer to a Request: one line of JSON.
type Reply struct {
	Values  []Variant `json:"values,omitempty"` // of Request.Return
	Last    Variant   `json:"last,omitzero"`    // the result of the last step that has one
	Cut     bool      `json:"cut,omitempty"`    // a list has only its first items
	Failure *Failure  `json:"failure,omitempty"`
	// Library is that of Request.Describe.
	Library *typelib.Library `json:"library,omitempty"`
}

// MaxListed limits the items of a list.
const MaxListed = 1000

// A Failure is the failed step of a call.
type Failure struct {
	Step    int    `json:"step"`
	HRESULT uint32 `json:"hr,omitempty"`
	// Message is set for a failure that has no HRESULT.
	Message string `json:"message,omitempty"`
	// Source, Description and Code are those of the app, in an EXCEPINFO.
	Source      string `json:"source,omitempty"`
	Description string `json:"description,omitempty"`
	Code        uint32 `json:"code,omitempty"`
	// Argument is the number of the wrong argument, from 1; 0: unknown.
	Argument int `json:"arg,omitempty"`
	// Name is the name that the object does not know.
	Name string `json:"name,omitempty"`
	// Late reports that the time was over. HRESULT is then that of a busy app, or zero.
	Late bool `json:"late,omitempty"`
	// Denied reports that the class runs programs, and the consent does not say so.
	Denied bool `json:"denied,omitempty"`
	// Begun reports that a step may have changed something before, or that this one did.
	Begun bool `json:"begun,omitempty"`
}
