// Package undo takes back what calls did, and keeps what each conversation has done so
// that it can be. Nothing is taken back blindly: first it is looked whether the world is
// still as the act left it, and newer work is never overwritten.
package undo

import (
	"context"
	"strings"
	"sync"

	"aai"
)

// A Status says what became of an act that was to be taken back.
type Status string

// The statuses.
const (
	Undone Status = "undone"
	Partly Status = "partly"               // some of it was taken back, and the rest nobody knows how
	Newer  Status = "newer"                // the world is otherwise by now; nothing was done
	Failed Status = "failed"               // nothing was done
	Unsure Status = "unsure"               // it may have been taken back, or not
	Never  Status = "skipped_irreversible" // nobody knows how; nothing was done
)

// An Outcome is what became of an act that was to be taken back.
type Outcome struct {
	Status Status `json:"status"`
	Says   string `json:"says"` // in one line, what was done or why not
	// Err is the error of the call that failed, nil for none: a caller who may not make
	// it finds in it what a person must allow.
	Err *aai.Error `json:"-"`
}

// Done reports whether the act is taken back, all of it.
func (o Outcome) Done() bool { return o.Status == Undone }

// Do makes a call, as [aai.Gateway.Do] does.
type Do func(context.Context, *aai.Call) (*aai.Result, error)

// maxSays is how long the line of an outcome is, in bytes.
const maxSays = 300

// Back takes an act back for the caller: it looks, compares what it sees with what the act
// left, and only if that is the same takes the step. Without a look of its own the step looks
// itself, if its tool can. Both are calls that do makes, with the caller's rights; they are
// no acts of the conversation, see [Log.Did].
func Back(ctx context.Context, do func(context.Context, *aai.Call) (*aai.Result, error), caller aai.Caller, u *aai.Undo) Outcome {
	if u == nil || u.Step.Tool == "" {
		return Outcome{Status: Never, Says: "nobody knows how to take it back"}
	}
	seen, step := &seen{form: u.Form, left: u.Left}, u.Step.Call(caller)
	if u.Look == nil {
		step.Still = seen.still
	} else if o := look(ctx, do, caller, u, seen); o != nil {
		return *o
	}
	_, err := do(context.WithValue(ctx, backKey{}, taking{u}), step)
	looked, other := seen.said()
	switch {
	case other != "":
		return newer(other)
	case err != nil:
		return failed("not taken back", err)
	}
	says, status := aai.CleanLabel(u.Says, maxSays), Undone
	if len(u.Stays) > 0 {
		says, status = aai.CleanLabel(u.Says+"; what stays as the act left it: "+strings.Join(u.Stays, ", "), maxSays), Partly
	}
	if !looked {
		says += "; nobody could look whether it was still as it was left"
	}
	return Outcome{Status: status, Says: says}
}

// look looks whether the world is as the act left it, and returns what to say where it is
// not, or nobody knows.
func look(ctx context.Context, do Do, caller aai.Caller, u *aai.Undo, seen *seen) *Outcome {
	const unknown = "cannot look whether it is still as it was left"
	result, err := do(context.WithValue(ctx, backKey{}, taking{}), u.Look.Call(caller))
	switch {
	case err != nil:
		o := failed(unknown, err)
		o.Status = Failed // a look does nothing
		return &o
	case result == nil:
		return &Outcome{Status: Failed, Says: aai.CleanLabel(unknown+": "+u.Look.Tool+" answered nothing", maxSays)}
	}
	if seen.still(result.Data) == nil {
		return nil
	}
	_, other := seen.said()
	o := newer(other)
	return &o
}

// seen is what was seen of the world, perhaps by an Action that outlasts its call.
type seen struct {
	form, left any

	mu     sync.Mutex
	looked bool
	other  string // in what it differs from what was left
}

// still is told what is there, as [aai.Call.Still].
func (s *seen) still(now any) error {
	other := difference(s.form, s.left, now)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looked, s.other = true, other
	if other == "" {
		return nil
	}
	e := aai.Errorf(aai.AutomationFailed, "it is otherwise now, and was not overwritten")
	e.Delivery = aai.NotDelivered
	return e
}

func (s *seen) said() (looked bool, other string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.looked, s.other
}

// newer is the outcome where the world is otherwise by now.
func newer(other string) Outcome {
	return Outcome{Status: Newer, Says: aai.CleanLabel("the world is otherwise now: "+other+"; not overwritten", maxSays)}
}

// failed is the outcome where a call of it failed. What it was to do may have been done all
// the same.
func failed(what string, err error) Outcome {
	e := aai.AsError(err)
	o := Outcome{Status: Failed, Says: aai.CleanLabel(what+": "+e.Message, maxSays), Err: e}
	if e.Delivery == aai.DeliveryUnknown {
		o.Status = Unsure
	}
	return o
}

// taking is what the calls of a context are about that Back makes.
type taking struct{ back *aai.Undo } // nil for a look

// backKey is under what a context holds it.
type backKey struct{}
