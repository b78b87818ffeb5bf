package gateway

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

// A StopChecker knows the calls that a person has stopped. It is safe for concurrent use.
type StopChecker interface {
	// CheckStopped returns the reason why a call must not continue, or nil. Do calls it on
	// receipt, before the run, and last while the intent is written, so it must be quick.
	CheckStopped(w CallScope) *aai.Error
}

// CallScope holds the properties of a call that a stop can refer to.
type CallScope struct {
	// CallIDs are the ids of the call, of its enclosing calls, and of the call that it repeats.
	CallIDs []string
	Caller  aai.Caller
	// App and Tool are the resolved names, or the requested ones before resolution.
	App, Tool string
}

// CancelStopped ends the active calls that a person has stopped. The watcher of the StopChecker
// calls it after a change; later calls check by themselves.
func (g *Gateway) CancelStopped() {
	for _, p := range g.active.all() {
		_ = p.checkStop() // it ends the call
	}
}

// checkStopBetween implements actionctx.CheckStopped, between two steps of the Action.
func (p *invocation) checkStopBetween() error {
	if why := p.checkStop(); why != nil {
		return asNotDelivered(why)
	}
	return nil
}

// asNotDelivered returns the error of a stop before the Action began, or between two of its steps.
func asNotDelivered(why *aai.Error) *aai.Error {
	e := *why
	e.Delivery = aai.NotDelivered
	return &e
}

// stopCause is the cause in the context of a stopped call.
type stopCause struct{ err *aai.Error }

// Error implements error.
func (h stopCause) Error() string { return h.err.Error() }

// stop is a person's stop of a call.
type stop struct {
	stopError     *aai.Error              // its reason, or nil
	cancelContext context.CancelCauseFunc // ends the context of the call; may be nil
}

// callChain returns the ids of the call and its enclosing calls, sorted.
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

// checkStop checks whether a person has stopped the call, and ends it if so.
func (p *invocation) checkStop() *aai.Error {
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

// stopCause returns the reason of a person's stop of the call or an enclosing one, or nil.
func (p *invocation) stopCause() *aai.Error {
	p.mu.Lock()
	why, door := p.stopError, p.ctx
	p.mu.Unlock()
	if outer, is := errors.AsType[stopCause](context.Cause(door)); why == nil && is {
		return outer.err
	}
	return why
}

// stoppedError returns the error of a stopped call; failure is the Action's error, or nil if the
// Action has not returned.
func (p *invocation) stoppedError(why, failure *aai.Error) *aai.Error {
	p.mu.Lock()
	ran := p.ran()
	p.mu.Unlock()
	e := *why
	switch {
	case !ran || p.onlyReads():
		e.Delivery = aai.NotDelivered
	case failure == nil:
		e.Delivery = aai.DeliveryUnknown
	default:
		e.Delivery = cmp.Or(failure.Delivery, aai.DeliveryUnknown)
	}
	if failure != nil {
		e.Data, e.Undo = failure.Data, failure.Undo
		if strings.Contains(failure.Message, why.Message) {
			e.Message = failure.Message
		}
	}
	return &e
}
