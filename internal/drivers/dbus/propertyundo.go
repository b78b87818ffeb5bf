package dbus

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// readBackTimeout limits reading the property again after it was set.
const readBackTimeout = 2 * time.Second

// propertyReading is a property's value before the call.
type propertyReading struct {
	wasRead bool // the driver queried the app
	known   bool
	value   any
	typ     *wire.Type // nil: not known
}

// before reads the property before it is set, and calls call.CheckUnchanged with the value. A
// property that cannot be read can still be set, unless the call has CheckUnchanged.
func (p *propertyTool) before(ctx context.Context, peer *peer, call *aai.Call) (was propertyReading, f *failure) {
	if p.app == "" && call.CheckUnchanged == nil {
		return was, nil
	}
	was, f = p.readValue(ctx, peer)
	switch {
	case f != nil && f.err.Delivery != aai.Delivered:
		return was, f // the app is not reachable or does not reply
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

// readValue reads the property's value and type. known is false if the value cannot be decoded.
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

// undoOf returns the undo step: the same tool sets the old value if the property still has the
// value that this call produced. It returns nil if JSON cannot hold the value with its type, or if
// the tool sets a fixed value.
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

// expectedAfterSet returns the property's value after the call, because an app may adjust the given
// value. It does not wait for a slow app.
func (p *propertyTool) expectedAfterSet(ctx context.Context, call *aai.Call, was propertyReading) any {
	asked := call.Args[p.value.param]
	patience := readBackTimeout
	if until, ok := ctx.Deadline(); ok {
		patience = min(patience, time.Until(until)/2) // leave time to report the success
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
