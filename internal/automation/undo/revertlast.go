package undo

import (
	"context"
	"slices"

	"github.com/gybob/aai-gateway"
)

// Reverted is an act with the outcome of its revert.
type Reverted struct {
	Act     *Act
	Outcome Outcome
}

// Revert reverts the last count acts of the caller's conversation that meant accepts, the newest
// first, each as [Revert] does. It continues after a failure, and returns failed acts with the
// reason. Acts that are already reverted do not count. older is the next accepted act before them,
// nil for none.
//
// The error reports that the acts cannot be read or that another revert of the conversation runs.
// Before anything was reverted, it may also be the permission that a person must give first.
func (l *Log) Revert(ctx context.Context, do DoFunc, caller aai.Caller, count int,
	meant func(*Act) bool) (taken []Reverted, older *Act, err error) {
	acts, err := l.Acts(ctx, caller)
	if err != nil {
		return nil, nil, err
	}
	leave, ok := l.lockConversation(caller)
	if !ok {
		e := aai.Errorf(aai.AutomationFailed, "acts of this conversation are being undone just now")
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

// revertOne reverts one act, unless that is known to be useless.
func (l *Log) revertOne(ctx context.Context, do DoFunc, caller aai.Caller, act *Act) Outcome {
	switch {
	case ctx.Err() != nil:
		return Outcome{Status: StatusFailed, Message: "the time for undoing was over"}
	case act.Code != "" && act.Undo == nil:
		return Outcome{Status: StatusIrreversible,
			Message: "it failed with " + string(act.Code) + " and may have happened; check the app"}
	case act.NoUndoReason != "":
		return Outcome{Status: StatusIrreversible, Message: act.NoUndoReason}
	case act.Status == StatusUnknown && act.Undo.StateStep == nil:
		return Outcome{Status: StatusUnknown, Message: "it may be undone already; its state cannot be checked"}
	}
	o := Revert(ctx, do, caller, act.Undo)
	if o.Status == StatusUndone || o.Status == StatusPartial || o.Status == StatusUnknown {
		l.setStatus(ctx, caller, o.Status, func(a *Act) bool { return a.Call == act.Call })
	}
	return o
}

// lockConversation locks the caller's conversation until leave, unless a revert already runs.
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
