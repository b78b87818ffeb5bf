// Package undo reverts the effects of calls. A Log records the acts of each conversation. Revert
// first compares the current state with the state after the act, and never overwrites newer work.
package undo

import (
	"context"
	"strings"
	"sync"

	"github.com/gybob/aai-gateway"
)

// Status is the result of a revert.
type Status string

// Possible statuses.
const (
	StatusUndone       Status = "undone"
	StatusPartial      Status = "partly"               // a part was reverted, and the rest has no undo
	StatusChangedSince Status = "newer"                // the state has changed since; nothing was done
	StatusFailed       Status = "failed"               // a call of the revert failed; see Message
	StatusUnknown      Status = "unsure"               // it may have been reverted, or not
	StatusIrreversible Status = "skipped_irreversible" // there is no undo; nothing was done
)

// Outcome describes the result of the revert of one act.
type Outcome struct {
	Status  Status `json:"status"`
	Message string `json:"says"` // one line: the effect, or the reason for a failure
	// Err is the error of the failed call, nil for none. It contains the permission that a caller
	// without rights needs from a person.
	Err *aai.Error `json:"-"`
}

// IsUndone reports whether the act was reverted completely.
func (o Outcome) IsUndone() bool { return o.Status == StatusUndone }

// DoFunc makes a call, as [gateway.Gateway.Do] does.
type DoFunc func(context.Context, *aai.Call) (*aai.Result, error)

// maxMessage is the maximum length of an outcome's message, in bytes.
const maxMessage = 300

// Revert reverts an act for the caller. It reads the state, and takes the step only if the state is
// still the one after the act. Without a StateStep, the step's tool checks the state itself, if it
// can. The calls go through do with the caller's rights; they are no acts of the conversation, see
// [Log.ObserveMutation].
func Revert(ctx context.Context, do func(context.Context, *aai.Call) (*aai.Result, error), caller aai.Caller,
	u *aai.Undo) Outcome {
	if u == nil || u.Step.Tool == "" {
		return Outcome{Status: StatusIrreversible, Message: "the tool has no undo"}
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
		return failedOutcome("not undone", err)
	}
	says, status := aai.CleanLabel(u.Description, maxMessage), StatusUndone
	if len(u.NotRestored) > 0 {
		says, status = aai.CleanLabel(u.Description+"; not restored: "+strings.Join(u.NotRestored, ", "), maxMessage),
			StatusPartial
	}
	if !looked {
		says += "; later changes could not be checked"
	}
	return Outcome{Status: status, Message: says}
}

// checkState returns nil if the state is still the one after the act, and else the outcome of the
// revert: the state has changed, or is unknown.
func checkState(ctx context.Context, do DoFunc, caller aai.Caller, u *aai.Undo, seen *observation) *Outcome {
	const unknown = "cannot check for later changes"
	result, err := do(context.WithValue(ctx, revertingKey{}, reverting{}), u.StateStep.Call(caller))
	switch {
	case err != nil:
		o := failedOutcome(unknown, err)
		o.Status = StatusFailed // reading changes nothing
		return &o
	case result == nil:
		return &Outcome{Status: StatusFailed, Message: aai.CleanLabel(unknown+": "+u.StateStep.Tool+" returned nothing",
			maxMessage)}
	}
	if seen.checkUnchanged(result.Data) == nil {
		return nil
	}
	_, other := seen.outcome()
	o := changedSince(other)
	return &o
}

// observation is the result of comparing the current state. An action that continues after its call may
// still set it.
type observation struct {
	shape, expected any

	mu         sync.Mutex
	looked     bool
	difference string // between the observed and the expected state
}

// checkUnchanged compares the current state, as [aai.Call.CheckUnchanged].
func (s *observation) checkUnchanged(now any) error {
	other := difference(s.shape, s.expected, now)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looked, s.difference = true, other
	if other == "" {
		return nil
	}
	e := aai.Errorf(aai.AutomationFailed, "the state has changed since, and was not overwritten")
	e.Delivery = aai.NotDelivered
	return e
}

func (s *observation) outcome() (looked bool, other string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.looked, s.difference
}

// changedSince returns the outcome for a state that has changed since the act.
func changedSince(other string) Outcome {
	return Outcome{Status: StatusChangedSince,
		Message: aai.CleanLabel("the state has changed since: "+other+"; not overwritten", maxMessage)}
}

// failedOutcome returns the outcome for a failed call. Its effect may have happened nevertheless.
func failedOutcome(what string, err error) Outcome {
	e := aai.AsError(err)
	o := Outcome{Status: StatusFailed, Message: aai.CleanLabel(what+": "+e.Message, maxMessage), Err: e}
	if e.Delivery == aai.DeliveryUnknown {
		o.Status = StatusUnknown
	}
	return o
}

// reverting marks the context of calls that Revert makes.
type reverting struct{ undo *aai.Undo } // nil for a state step

// revertingKey is the context key of a reverting.
type revertingKey struct{}
