package aai

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
)

// A Halt knows what a person has stopped. It is safe for concurrent use.
type Halt interface {
	// Stopped returns why a call may not go on, or nil. Do asks it of every call, before
	// anything is made of it and before it runs, and last when the line of what is about to act is written, so it is quick.
	Stopped(w Whose) *Error
}

// Whose is what a stop can name of a call.
type Whose struct {
	// Calls are its id, and those of the calls that it is within or is made again for.
	Calls  []string
	Caller Caller
	// App and Tool: what they turned out to be, or as they were asked for until then.
	App, Tool string
}

// EndStopped ends the calls under way that a person has stopped. Who watches the Halt calls
// it when that has changed; the calls that come later look for themselves.
func (g *Gateway) EndStopped() {
	for _, p := range g.under.all() {
		_ = p.stopped() // it ends the call
	}
}

// MayGoOn returns an *Error if a person has stopped the call of the context. What is done in
// many strokes asks between two of them; outside of an Action it is nil.
func MayGoOn(ctx context.Context) error {
	if p, _ := ctx.Value(passageKey{}).(*passage); p != nil {
		if why := p.stopped(); why != nil {
			return notBegun(why)
		}
	}
	return nil
}

// notBegun is the stop of what has not begun.
func notBegun(why *Error) *Error {
	e := *why
	e.Delivery = NotDelivered
	return &e
}

// halting is the cause by which a call's context ends that a person stops.
type halting struct{ why *Error }

// Error implements error.
func (h halting) Error() string { return h.why.Error() }

// whose are the call and those that it is within.
func (p *passage) whose() []string {
	calls := []string{p.r.Call.ID}
	if p.r.Call.Parent != "" {
		calls = append(calls, p.r.Call.Parent)
	}
	if p.outer != nil {
		calls = append(calls, p.outer.calls...)
	}
	slices.Sort(calls)
	return slices.Compact(calls)
}

// stopped looks whether a person has stopped the call, and ends it if so.
func (p *passage) stopped() *Error {
	if p.g.Halt == nil {
		return nil
	}
	p.mu.Lock()
	who := Whose{Calls: p.calls, Caller: p.r.Call.Caller, App: p.about.App, Tool: p.about.Tool}
	p.mu.Unlock()
	why := p.g.Halt.Stopped(who)
	if why == nil {
		return nil
	}
	p.mu.Lock()
	p.halt = cmp.Or(p.halt, why)
	cancel := p.cancel
	p.mu.Unlock()
	if cancel != nil {
		cancel(halting{why})
	}
	return why
}

// halted is why a person has ended the call, or one that it is within; nil: none has.
func (p *passage) halted() *Error {
	p.mu.Lock()
	why, door := p.halt, p.door
	p.mu.Unlock()
	if outer, is := errors.AsType[halting](context.Cause(door)); why == nil && is {
		return outer.why
	}
	return why
}

// haltedAs is the error of a call that a person has ended; failure is what its Action said
// then, nil if that has not answered.
func (p *passage) haltedAs(why, failure *Error) *Error {
	p.mu.Lock()
	ran := p.ran
	p.mu.Unlock()
	e := *why
	switch {
	case !ran || p.reads():
		e.Delivery = NotDelivered
	case failure == nil:
		e.Delivery = DeliveryUnknown
	default:
		e.Delivery = cmp.Or(failure.Delivery, DeliveryUnknown)
	}
	if failure != nil {
		e.Data, e.Undo = failure.Data, failure.Undo
		if strings.Contains(failure.Message, why.Message) {
			e.Message = failure.Message
		}
	}
	return &e
}
