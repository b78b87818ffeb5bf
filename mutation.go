package aai

import (
	"context"
	"time"
)

// A Deed is an act that has ended: a call that does not only read, and whose Action was
// begun. It may not have happened where it ended with an error, see Code.
type Mutation struct {
	Call, Parent string
	Caller       Caller
	Time         time.Time // of its end
	// App, Tool, Target and On are as in the Entry of its outcome.
	App, Tool, Target string
	Element           TargetElement
	// Undo is the Result's, or of what failed the Error's; nil: nobody knows how it is taken back.
	Undo *Undo
	// Code is how it failed, "" for not at all: then nobody knows whether it happened.
	// What is known not to have reached the app is no deed.
	Code Code
}

// MutationObserver hears of what was done. It is safe for concurrent use.
type MutationObserver interface {
	// ObserveMutation is told of a deed once, when its outcome is on record and before whoever made
	// the call hears of it, so it is quick. The context has the values of the one that the
	// call was made with, and does not end. A call of a tool that does nothing but make
	// calls is no deed: those are.
	ObserveMutation(ctx context.Context, d *Mutation)
}

// notifyMutation tells of what the call did.
func (p *invocation) notifyMutation(e callResult) {
	if p.g.MutationObserver == nil {
		return
	}
	p.mu.Lock()
	about, ran, on, door := p.entry, p.actionStarted, p.element, p.ctx
	p.mu.Unlock()
	if !ran || about.Effect == Reads || p.request.Tool.OnlyMakesCalls || e.err != nil && e.err.Delivery == NotDelivered {
		return
	}
	if e.err == nil && e.result != nil && e.result.NoOp {
		return
	}
	d := &Mutation{
		Call: about.Call, Parent: about.Parent, Caller: about.Caller, Time: time.Now(),
		App: about.App, Tool: about.Tool, Target: about.Target, Element: on,
	}
	if d.Element == (TargetElement{}) {
		d.Element = about.Element
	}
	if e.err != nil {
		d.Code, d.Undo = e.err.Code, e.err.Undo
	} else if e.result != nil {
		d.Undo = e.result.Undo
	}
	defer func() { _ = recover() }() // what hears of an act takes nothing with it
	p.g.MutationObserver.ObserveMutation(context.WithoutCancel(door), d)
}
