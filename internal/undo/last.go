package undo

import (
	"context"
	"slices"

	"aai"
)

// Taken is an act that was to be taken back, and what became of that.
type Taken struct {
	Act     *Act
	Outcome Outcome
}

// Back takes back the last count acts of the caller's conversation that are meant, the
// newest first, as [Back] does each. It stops at nothing: what cannot be taken back is
// among those that it returns, with the reason. What is taken back already does not count.
// Older is the act before them that is meant, nil for none.
//
// Its error says why nobody knows what was done, or, before anything was taken back, what
// a person must allow first.
func (l *Log) Back(ctx context.Context, do Do, caller aai.Caller, count int, meant func(*Act) bool) (taken []Taken, older *Act, err error) {
	acts, err := l.Acts(ctx, caller)
	if err != nil {
		return nil, nil, err
	}
	leave, ok := l.take(caller)
	if !ok {
		e := aai.Errorf(aai.AutomationFailed, "acts of this conversation are being taken back just now")
		e.Delivery, e.Hint = aai.NotDelivered, "Wait for that call to end."
		return nil, nil, e
	}
	defer leave()
	undone := false
	for _, act := range slices.Backward(acts) {
		if act.Status == Undone || act.Status == Partly || !meant(act) {
			continue
		}
		if len(taken) == count {
			return taken, act, nil
		}
		o := l.backOne(ctx, do, caller, act)
		if o.Err != nil && o.Err.Code == aai.ConsentRequired && len(o.Err.Questions) > 0 && !undone {
			return nil, nil, o.Err
		}
		undone = undone || o.Done() || o.Status == Partly
		taken = append(taken, Taken{act, o})
	}
	return taken, nil, nil
}

// backOne takes one act back, if that is not known to be vain.
func (l *Log) backOne(ctx context.Context, do Do, caller aai.Caller, act *Act) Outcome {
	switch {
	case ctx.Err() != nil:
		return Outcome{Status: Failed, Says: "there was no time left for it"}
	case act.Code != "" && act.Undo == nil:
		return Outcome{Status: Never, Says: "it failed with " + string(act.Code) + " and may have happened; look whether it did"}
	case act.Lost != "":
		return Outcome{Status: Never, Says: act.Lost}
	case act.Status == Unsure && act.Undo.Look == nil:
		return Outcome{Status: Unsure, Says: "it may have been taken back already, and nobody can look"}
	}
	o := Back(ctx, do, caller, act.Undo)
	if o.Status == Undone || o.Status == Partly || o.Status == Unsure {
		l.mark(ctx, caller, o.Status, func(a *Act) bool { return a.Call == act.Call })
	}
	return o
}

// take has the caller's conversation to itself until leave, if nobody else has it.
func (l *Log) take(caller aai.Caller) (leave func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.of(caller)
	if t.busy {
		return nil, false
	}
	t.busy = true
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		t.busy = false
	}, true
}
