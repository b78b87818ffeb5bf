package dbus

import (
	"context"
	"fmt"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// propertyTool is a tool that reads or sets a D-Bus property.
type propertyTool struct {
	*target
	value  slot // with access "set"
	parser string
	// app and tool name this tool, for the undo step. They are empty if the tool must not read the
	// property before it sets it.
	app, tool string
}

func (d *Driver) compileProperty(r *aai.Recipe) (aai.Action, error) {
	b := r.DBus
	if b.Method != "" {
		return nil,
			aai.Errorf(aai.DescriptorInvalid, "property: expected no method beside it, got %q", aai.CleanLabel(b.Method, 100))
	}
	t, err := d.target(r, b.Bus, b.Service, b.Object, b.Interface, b.Property)
	if err != nil {
		return nil, err
	}
	if !wire.ValidMember(b.Property) {
		return nil, invalid("property", "the name of a D-Bus property such as Volume", b.Property)
	}
	p := &propertyTool{target: t, parser: r.OutputParser}
	switch b.Access {
	case "get", "":
		if b.Args != nil {
			return nil, aai.Errorf(aai.DescriptorInvalid, "args: expected none for a property that is read, got %d", len(b.Args))
		}
		if len(r.Params) != 0 {
			return nil,
				aai.Errorf(aai.DescriptorInvalid, "parameters: expected none for a property that is read, got %d", len(r.Params))
		}
		return p.reachable(p.get, "Get")
	case "set":
		slots, err := slotsOf(b.Args, r.Params)
		switch {
		case err != nil:
			return nil, err
		case b.Args != nil && len(slots) != 1:
			return nil,
				aai.Errorf(aai.DescriptorInvalid, "args: expected exactly one for a property that is set, got %d", len(slots))
		case len(slots) != 1:
			return nil,
				aai.Errorf(aai.DescriptorInvalid, "parameters: expected exactly one for a property that is set, got %d", len(slots))
		}
		p.value = slots[0]
		if r.Reversible && !p.value.fixed {
			p.app, p.tool = r.App, r.Tool
		}
		return p.reachable(p.set, "Set")
	}
	return nil, invalid("access", `"get" or "set"`, b.Access)
}

func (p *propertyTool) reachable(action aai.Action, member string) (aai.Action, error) {
	if err := checkReach(p.service, p.path, p.iface, member); err != nil {
		return nil, err
	}
	return action, nil
}

func (p *propertyTool) get(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
	reply, err := p.callPeer(ctx, func(context.Context, *peer) (*wire.Message, *failure) {
		return p.getRequest(), nil
	})
	if err != nil {
		return nil, err
	}
	values, err := valuesOf(reply)
	if err == nil && len(values) != 1 {
		err = fmt.Errorf("expected one value, got %d", len(values))
	}
	if err != nil {
		return nil, p.unreadable(err)
	}
	return p.result(values[0], p.parser)
}

// set sets the property. Its result claims only that the app accepted the value.
func (p *propertyTool) set(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	var was propertyReading
	_, err := p.callPeer(ctx, func(ctx context.Context, peer *peer) (_ *wire.Message, f *failure) {
		v, given, err := p.value.value(call.Args)
		switch {
		case err != nil:
			return nil, &failure{err: aai.AsError(err)}
		case !given:
			return nil,
				&failure{err: aai.Errorf(aai.InvalidParams, "%s: expected the new value of %s, got none", p.value.param, p.member)}
		}
		if was, f = p.before(ctx, peer, call); f != nil {
			return nil, f
		}
		t, f := p.typeOf(ctx, peer, v, was)
		if f != nil {
			return nil, f
		}
		e := p.named()
		e.Signature(t.Sig)
		if err := e.value(v, t, parameter(p.value.param)); err != nil {
			return nil, &failure{err: aai.AsError(err)}
		}
		return &wire.Message{Interface: propertyInterface, Member: "Set", Signature: "ssv", Body: e.Bytes()}, nil
	})
	if err != nil {
		return nil, err
	}
	return &aai.Result{Text: fmt.Sprintf("The app accepted the new value of %s.", p.member),
		Undo: p.undoOf(ctx, call, was)}, nil
}

// getRequest builds the request for the property's value.
func (p *propertyTool) getRequest() *wire.Message {
	e := p.named()
	return &wire.Message{Interface: propertyInterface, Member: "Get", Signature: "ss", Body: e.Bytes()}
}

// named begins the arguments of a Properties call.
func (p *propertyTool) named() (e encoder) {
	e.Str(p.iface)
	e.Str(p.member)
	return e
}

// typeOf returns the property's type: from introspection, otherwise from the current value,
// otherwise inferred from the new value.
func (p *propertyTool) typeOf(ctx context.Context, peer *peer, v any, was propertyReading) (*wire.Type, *failure) {
	o, _, f := peer.introspect(ctx)
	if f != nil {
		return nil, f
	}
	if described := o.interfaces[p.iface]; described != nil {
		if known, ok := described.properties[p.member]; ok {
			return known.typ, p.readOnly(known)
		}
	}
	if !was.wasRead {
		if was, f = p.readValue(ctx, peer); f != nil && f.err.Delivery != aai.Delivered {
			return nil, f
		}
	}
	if was.typ != nil {
		return was.typ, nil
	}
	t, err := inferType(v, parameter(p.value.param))
	if err != nil {
		return nil, &failure{err: aai.AsError(err)}
	}
	return t, nil
}

func (p *propertyTool) readOnly(known property) *failure {
	if known.writable {
		return nil
	}
	err := aai.Errorf(aai.AutomationFailed, "%s reports that its property %s is read-only", p.service, p.member)
	err.Hint = "Look for a method that changes it."
	return &failure{err: err}
}
