package undo

import (
	"context"
	"slices"

	"github.com/gybob/aai-gateway"
)

// Reverted is an act that was to be taken back, and what became of that.
type Reverted struct {
	Act     *Act
	Outcome Outcome
}

// Revert takes back the last count acts of the caller's conversation that are meant, the
// newest first, as [Revert] does each. It stops at nothing: what cannot be taken back is
// among those that it returns, with the reason. What is taken back already does not count.
// Older is the act before them that is meant, nil for none.
//
// Its error says why nobody knows what was done, or, before anything was taken back, what
// a person must allow first.
func (l *Log) Revert(ctx context.Context, do DoFunc, caller aai.Caller, count int, meant func(*Act) bool) (taken []Reverted, older *Act, err error) {
	acts, err := l.Acts(ctx, caller)
	if err != nil {
		return nil, nil, err
	}
	leave, ok := l.lockConversation(caller)
	if !ok {
		e := aai.Errorf(aai.AutomationFailed, "acts of this conversation are being taken back just now")
		e.Delivery, e.Hint = aai.NotDelivered, "Wait for that call to end."
		return nil, nil, e
	}
	defer leave()
	undone := false
	for _, act := range slices.Backward(acts) {
		if act.Status == StatusUndone || act.Status == StatusPartial || !meant(act) {
			continue
		}
		if len(taken) == count {
			return taken, act, nil
		}
		o := l.revertOne(ctx, do, caller, act)
		if o.Err != nil && o.Err.Code == aai.ConsentRequired && len(o.Err.Questions) > 0 && !undone {
			return nil, nil, o.Err
		}
		undone = undone || o.IsUndone() || o.Status == StatusPartial
		taken = append(taken, Reverted{act, o})
	}
	return taken, nil, nil
}

// revertOne takes one act back, if that is not known to be vain.
func (l *Log) revertOne(ctx context.Context, do DoFunc, caller aai.Caller, act *Act) Outcome {
	switch {
	case ctx.Err() != nil:
		return Outcome{Status: StatusFailed, Message: "there was no time left for it"}
	case act.Code != "" && act.Undo == nil:
		return Outcome{Status: StatusIrreversible, Message: "it failed with " + string(act.Code) + " and may have happened; look whether it did"}
	case act.NoUndoReason != "":
		return Outcome{Status: StatusIrreversible, Message: act.NoUndoReason}
	case act.Status == StatusUnknown && act.Undo.StateStep == nil:
		return Outcome{Status: StatusUnknown, Message: "it may have been taken back already, and nobody can look"}
	}
	o := Revert(ctx, do, caller, act.Undo)
	if o.Status == StatusUndone || o.Status == StatusPartial || o.Status == StatusUnknown {
		l.setStatus(ctx, caller, o.Status, func(a *Act) bool { return a.Call == act.Call })
	}
	return o
}

// lockConversation has the caller's conversation to itself until leave, if nobody else has it.
func (l *Log) lockConversation(caller aai.Caller) (leave func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.conversationOf(caller)
	if t.reverting {
		return nil, false
	}
	t.reverting = true
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		t.reverting = false
	}, true
}
