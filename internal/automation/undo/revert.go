// Package undo takes back what calls did, and keeps what each conversation has done so
// that it can be. Nothing is taken back blindly: first it is looked whether the world is
// still as the act left it, and newer work is never overwritten.
package undo

import (
	"context"
	"strings"
	"sync"

	"github.com/gybob/aai-gateway"
)

// A Status says what became of an act that was to be taken back.
type Status string

// The statuses.
const (
	StatusUndone       Status = "undone"
	StatusPartial      Status = "partly"               // some of it was taken back, and the rest nobody knows how
	StatusChangedSince Status = "newer"                // the world is otherwise by now; nothing was done
	StatusFailed       Status = "failed"               // nothing was done
	StatusUnknown      Status = "unsure"               // it may have been taken back, or not
	StatusIrreversible Status = "skipped_irreversible" // nobody knows how; nothing was done
)

// An Outcome is what became of an act that was to be taken back.
type Outcome struct {
	Status  Status `json:"status"`
	Message string `json:"says"` // in one line, what was done or why not
	// Err is the error of the call that failed, nil for none: a caller who may not make
	// it finds in it what a person must allow.
	Err *aai.Error `json:"-"`
}

// IsUndone reports whether the act is taken back, all of it.
func (o Outcome) IsUndone() bool { return o.Status == StatusUndone }

// DoFunc makes a call, as [aai.Gateway.Do] does.
type DoFunc func(context.Context, *aai.Call) (*aai.Result, error)

// maxMessage is how long the line of an outcome is, in bytes.
const maxMessage = 300

// Revert takes an act back for the caller: it looks, compares what it sees with what the act
// left, and only if that is the same takes the step. Without a look of its own the step looks
// itself, if its tool can. Both are calls that do makes, with the caller's rights; they are
// no acts of the conversation, see [Log.ObserveMutation].
func Revert(ctx context.Context, do func(context.Context, *aai.Call) (*aai.Result, error), caller aai.Caller, u *aai.Undo) Outcome {
	if u == nil || u.Step.Tool == "" {
		return Outcome{Status: StatusIrreversible, Message: "nobody knows how to take it back"}
	}
	seen, step := &observation{shape: u.ExpectedShape, expected: u.ExpectedState}, u.Step.Call(caller)
	if u.StateStep == nil {
		step.CheckUnchanged = seen.checkUnchanged
	} else if o := checkState(ctx, do, caller, u, seen); o != nil {
		return *o
	}
	_, err := do(context.WithValue(ctx, revertingKey{}, reverting{u}), step)
	looked, other := seen.outcome()
	switch {
	case other != "":
		return changedSince(other)
	case err != nil:
		return failedOutcome("not taken back", err)
	}
	says, status := aai.CleanLabel(u.Description, maxMessage), StatusUndone
	if len(u.NotRestored) > 0 {
		says, status = aai.CleanLabel(u.Description+"; what stays as the act left it: "+strings.Join(u.NotRestored, ", "), maxMessage), StatusPartial
	}
	if !looked {
		says += "; nobody could look whether it was still as it was left"
	}
	return Outcome{Status: status, Message: says}
}

// checkState looks whether the world is as the act left it, and returns what to say where it is
// not, or nobody knows.
func checkState(ctx context.Context, do DoFunc, caller aai.Caller, u *aai.Undo, seen *observation) *Outcome {
	const unknown = "cannot look whether it is still as it was left"
	result, err := do(context.WithValue(ctx, revertingKey{}, reverting{}), u.StateStep.Call(caller))
	switch {
	case err != nil:
		o := failedOutcome(unknown, err)
		o.Status = StatusFailed // a look does nothing
		return &o
	case result == nil:
		return &Outcome{Status: StatusFailed, Message: aai.CleanLabel(unknown+": "+u.StateStep.Tool+" answered nothing", maxMessage)}
	}
	if seen.checkUnchanged(result.Data) == nil {
		return nil
	}
	_, other := seen.outcome()
	o := changedSince(other)
	return &o
}

// observation is what was seen of the world, perhaps by an Action that outlasts its call.
type observation struct {
	shape, expected any

	mu         sync.Mutex
	looked     bool
	difference string // in what it differs from what was left
}

// checkUnchanged is told what is there, as [aai.Call.CheckUnchanged].
func (s *observation) checkUnchanged(now any) error {
	other := difference(s.shape, s.expected, now)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looked, s.difference = true, other
	if other == "" {
		return nil
	}
	e := aai.Errorf(aai.AutomationFailed, "it is otherwise now, and was not overwritten")
	e.Delivery = aai.NotDelivered
	return e
}

func (s *observation) outcome() (looked bool, other string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.looked, s.difference
}

// changedSince is the outcome where the world is otherwise by now.
func changedSince(other string) Outcome {
	return Outcome{Status: StatusChangedSince, Message: aai.CleanLabel("the world is otherwise now: "+other+"; not overwritten", maxMessage)}
}

// failedOutcome is the outcome where a call of it failed. What it was to do may have been done all
// the same.
func failedOutcome(what string, err error) Outcome {
	e := aai.AsError(err)
	o := Outcome{Status: StatusFailed, Message: aai.CleanLabel(what+": "+e.Message, maxMessage), Err: e}
	if e.Delivery == aai.DeliveryUnknown {
		o.Status = StatusUnknown
	}
	return o
}

// reverting is what the calls of a context are about that Back makes.
type reverting struct{ undo *aai.Undo } // nil for a look

// revertingKey is under what a context holds it.
type revertingKey struct{}
