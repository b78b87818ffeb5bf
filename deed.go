package aai

import (
	"context"
	"time"
)

// A Deed is an act that has ended: a call that does not only read, and whose Action was
// begun. It may not have happened where it ended with an error, see Code.
type Deed struct {
	Call, Parent string
	Caller       Caller
	Time         time.Time // of its end
	// App, Tool, Target and On are as in the Entry of its outcome.
	App, Tool, Target string
	On                Hit
	// Undo is the Result's, or of what failed the Error's; nil: nobody knows how it is taken back.
	Undo *Undo
	// Code is how it failed, "" for not at all: then nobody knows whether it happened.
	// What is known not to have reached the app is no deed.
	Code Code
}

// Deeds hears of what was done. It is safe for concurrent use.
type Deeds interface {
	// Did is told of a deed once, when its outcome is on record and before whoever made
	// the call hears of it, so it is quick. The context has the values of the one that the
	// call was made with, and does not end. A call of a tool that does nothing but make
	// calls is no deed: those are.
	Did(ctx context.Context, d *Deed)
}

// tell tells of what the call did.
func (p *passage) tell(e ending) {
	if p.g.Deeds == nil {
		return
	}
	p.mu.Lock()
	about, ran, on, door := p.about, p.ran, p.on, p.door
	p.mu.Unlock()
	if !ran || about.Effect == Reads || p.r.Tool.Calls || e.err != nil && e.err.Delivery == NotDelivered {
		return
	}
	if e.err == nil && e.result != nil && e.result.Idle {
		return
	}
	d := &Deed{
		Call: about.Call, Parent: about.Parent, Caller: about.Caller, Time: time.Now(),
		App: about.App, Tool: about.Tool, Target: about.Target, On: on,
	}
	if d.On == (Hit{}) {
		d.On = about.On
	}
	if e.err != nil {
		d.Code, d.Undo = e.err.Code, e.err.Undo
	} else if e.result != nil {
		d.Undo = e.result.Undo
	}
	defer func() { _ = recover() }() // what hears of an act takes nothing with it
	p.g.Deeds.Did(context.WithoutCancel(door), d)
}
