package aai

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
)

// A Halt knows what a person has stopped. It is safe for concurrent use.
type StopChecker interface {
	// CheckStopped returns why a call may not go on, or nil. Do asks it of every call, before
	// anything is made of it and before it runs, and last when the line of what is about to act is written, so it is quick.
	CheckStopped(w CallScope) *Error
}

// CallScope is what a stop can name of a call.
type CallScope struct {
	// CallIDs are its id, and those of the calls that it is within or is made again for.
	CallIDs []string
	Caller  Caller
	// App and Tool: what they turned out to be, or as they were asked for until then.
	App, Tool string
}

// CancelStopped ends the calls under way that a person has stopped. Who watches the Halt calls
// it when that has changed; the calls that come later look for themselves.
func (g *Gateway) CancelStopped() {
	for _, p := range g.active.all() {
		_ = p.checkStop() // it ends the call
	}
}

// CheckStopped returns an *Error if a person has stopped the call of the context. What is done in
// many strokes asks between two of them; outside of an Action it is nil.
func CheckStopped(ctx context.Context) error {
	if p, _ := ctx.Value(invocationKey{}).(*invocation); p != nil {
		if why := p.checkStop(); why != nil {
			return asNotDelivered(why)
		}
	}
	return nil
}

// asNotDelivered is the stop of what has not begun.
func asNotDelivered(why *Error) *Error {
	e := *why
	e.Delivery = NotDelivered
	return &e
}

// stopCause is the cause by which a call's context ends that a person stops.
type stopCause struct{ err *Error }

// Error implements error.
func (h stopCause) Error() string { return h.err.Error() }

// callChain are the call and those that it is within.
func (p *invocation) callChain() []string {
	calls := []string{p.request.Call.ID}
	if p.request.Call.Parent != "" {
		calls = append(calls, p.request.Call.Parent)
	}
	if p.outer != nil {
		calls = append(calls, p.outer.callIDs...)
	}
	slices.Sort(calls)
	return slices.Compact(calls)
}

// checkStop looks whether a person has stopped the call, and ends it if so.
func (p *invocation) checkStop() *Error {
	if p.g.Stops == nil {
		return nil
	}
	p.mu.Lock()
	who := CallScope{CallIDs: p.callIDs, Caller: p.request.Call.Caller, App: p.entry.App, Tool: p.entry.Tool}
	p.mu.Unlock()
	why := p.g.Stops.CheckStopped(who)
	if why == nil {
		return nil
	}
	p.mu.Lock()
	p.stopError = cmp.Or(p.stopError, why)
	cancel := p.cancelContext
	p.mu.Unlock()
	if cancel != nil {
		cancel(stopCause{why})
	}
	return why
}

// stopCause is why a person has ended the call, or one that it is within; nil: none has.
func (p *invocation) stopCause() *Error {
	p.mu.Lock()
	why, door := p.stopError, p.ctx
	p.mu.Unlock()
	if outer, is := errors.AsType[stopCause](context.Cause(door)); why == nil && is {
		return outer.err
	}
	return why
}

// stoppedError is the error of a call that a person has ended; failure is what its Action said
// then, nil if that has not answered.
func (p *invocation) stoppedError(why, failure *Error) *Error {
	p.mu.Lock()
	ran := p.actionStarted
	p.mu.Unlock()
	e := *why
	switch {
	case !ran || p.onlyReads():
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
