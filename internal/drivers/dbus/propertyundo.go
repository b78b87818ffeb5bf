package dbus

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// readBackTimeout is how long it may take to look what was made of a value.
const readBackTimeout = 2 * time.Second

// A reading is a property's value as it was found.
type propertyReading struct {
	wasRead bool // the app was asked for it
	known   bool
	value   any
	typ     *wire.Type // nil: not known
}

// before reads the property before it is set, and asks the call whether that may be. What
// the app does not let be read can be set all the same, but only by a call that does not
// mind.
func (p *propertyTool) before(ctx context.Context, peer *peer, call *aai.Call) (was propertyReading, f *failure) {
	if p.app == "" && call.CheckUnchanged == nil {
		return was, nil
	}
	was, f = p.readValue(ctx, peer)
	switch {
	case f != nil && f.err.Delivery != aai.Delivered:
		return was, f // the app was not reached, or does not answer
	case call.CheckUnchanged == nil:
		return was, nil
	case f != nil:
		return was, f
	case !was.known:
		return was, &failure{err: p.unreadable(fmt.Errorf("expected one value"))}
	}
	if err := call.CheckUnchanged(was.value); err != nil {
		return was, &failure{err: aai.AsError(err)}
	}
	return was, nil
}

// readValue reads the property.
func (p *propertyTool) readValue(ctx context.Context, peer *peer) (r propertyReading, f *failure) {
	r.wasRead = true
	reply, f := peer.call(ctx, p.getRequest())
	if f != nil {
		return r, f
	}
	if reply.Signature != "v" {
		return r, nil
	}
	d := decoder{Decoder: reply.Decoder()}
	if r.typ = d.variantType(); r.typ == nil {
		return r, nil
	}
	values, err := valuesOf(reply)
	r.known = err == nil && len(values) == 1
	if r.known {
		r.value = values[0]
	}
	return r, nil
}

// undoOf is how a property is set again to what it was: by the same tool, which looks whether
// it is still what the call has made of it. Nil where JSON does not hold the value with its
// type, or the tool sets no value of its caller's.
func (p *propertyTool) undoOf(ctx context.Context, call *aai.Call, was propertyReading) *aai.Undo {
	if p.app == "" || !was.known || strings.ContainsAny(was.typ.Sig, "vh") {
		return nil
	}
	words, err := textOf(was.value)
	if err != nil {
		return nil
	}
	return &aai.Undo{
		Description:   p.member + " is " + aai.CleanLabel(words, 60) + " again",
		Step:          aai.Step{App: p.app, Tool: p.tool, Args: map[string]any{p.value.param: was.value}},
		ExpectedState: p.expectedAfterSet(ctx, call, was),
	}
}

// expectedAfterSet is what the property is once it is set: an app may make another value of the one that
// it was given. One that is slow to do so is not waited for.
func (p *propertyTool) expectedAfterSet(ctx context.Context, call *aai.Call, was propertyReading) any {
	asked := call.Args[p.value.param]
	patience := readBackTimeout
	if until, ok := ctx.Deadline(); ok {
		patience = min(patience, time.Until(until)/2) // the property is set, and that is to be told
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	reply, err := p.callPeer(ctx, func(context.Context, *peer) (*wire.Message, *failure) { return p.getRequest(), nil })
	if err != nil {
		return asked
	}
	values, err := valuesOf(reply)
	if err != nil || len(values) != 1 {
		return asked
	}
	before, _ := textOf(was.value)
	if now, err := textOf(values[0]); err != nil || now == before {
		return asked
	}
	return values[0]
}
