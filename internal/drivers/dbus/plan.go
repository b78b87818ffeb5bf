package dbus

import (
	"maps"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// plan maps the arguments of a call to those of a D-Bus method.
type plan struct {
	object    *object // the object that it is for
	slots     []slot  // in wire order
	signature string
	inferred  bool     // infer the types from the values
	outs      []string // names for the values of the reply, or nil
}

// slot is one argument on the wire: the value of a parameter, or a template from the descriptor.
// For a template, param is its name in messages.
type slot struct {
	param    string
	fixed    bool
	template any // with fixed
	typ      *wire.Type
}

// value returns the slot's value, and whether there is one.
func (s slot) value(args map[string]any) (v any, given bool, err error) {
	if s.fixed {
		v, err = resolveTemplate(s.template, args)
		return v, err == nil, err
	}
	v, given = args[s.param]
	return v, given, nil
}

// newPlan makes the plan for a tool's method from the object's introspection data. Without data
// for the interface, the arguments keep the descriptor's order and their types are inferred.
func newPlan(o *object, tool *methodTool) (*plan, *aai.Error) {
	t := tool.target
	p := &plan{object: o, slots: slices.Clone(tool.slots)}
	described := o.interfaces[t.iface]
	if described == nil {
		p.inferred = true
		return p, nil
	}
	m := described.methods[t.member]
	if m == nil {
		err := aai.Errorf(aai.AutomationFailed, "%s has no method %s in %s", t.service, t.member, t.iface)
		err.Candidates = aai.Nearest(t.member, slices.Sorted(maps.Keys(described.methods)), 5)
		err.Hint = "The app may have another version than its descriptor. Use another of its tools."
		return nil, err
	}
	if m.malformed {
		p.inferred = true
		return p, nil
	}
	if err := takesDescriptors(t, m); err != nil {
		return nil, err
	}
	if len(m.ins) != len(p.slots) {
		return nil, countMismatch(tool, m)
	}
	p.outs = outNames(m.outs)
	if tool.named {
		for i, name := range orderByName(m.ins, tool.params) {
			p.slots[i].param = name
		}
	}
	for i, in := range m.ins {
		p.slots[i].typ = in.typ
		p.signature += in.typ.Sig
	}
	return p, nil
}

// takesDescriptors rejects methods that pass file descriptors, in replies too: the bus does not
// deliver a reply that the gateway could not receive.
func takesDescriptors(t *target, m *method) *aai.Error {
	for _, a := range slices.Concat(m.ins, m.outs) {
		if hasDescriptor(a.typ) {
			return noDescriptors(t.member + " " + a.name)
		}
	}
	return nil
}

func countMismatch(tool *methodTool, m *method) *aai.Error {
	t, field, listed := tool.target, "args", make([]string, len(tool.slots))
	for i, s := range tool.slots {
		listed[i] = s.param
	}
	if tool.named {
		field = "parameters"
	}
	ins := make([]string, 0, len(m.ins))
	for _, in := range m.ins {
		ins = append(ins, strings.TrimSpace(aai.CleanLabel(in.name, 60)+" "+in.typ.Sig))
	}
	err := aai.Errorf(aai.DescriptorInvalid, "%s: the descriptor lists (%s), but %s of %s takes (%s)",
		field, strings.Join(listed, ", "), t.member, t.service, strings.Join(ins, ", "))
	err.Hint = "The app may have another version than its descriptor. The descriptor's maintainer can correct it."
	return err
}

// orderByName returns the parameter for each argument: by name if every argument has a parameter
// of its name, otherwise by position.
func orderByName(ins []argument, params []string) []string {
	byName := map[string]string{}
	for _, name := range params {
		byName[normalizedName(name)] = name
	}
	order := make([]string, len(ins))
	taken := map[string]bool{}
	for i, in := range ins {
		name, ok := byName[normalizedName(in.name)]
		if !ok || taken[name] {
			return params
		}
		taken[name] = true
		order[i] = name
	}
	return order
}

// normalizedName removes differences of case, "_" and "-".
func normalizedName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}

// outNames returns the names of the reply's values, or nil if they are not unique.
func outNames(outs []argument) []string {
	var names []string
	for _, out := range outs {
		if out.name == "" || slices.Contains(names, out.name) {
			return nil
		}
		names = append(names, out.name)
	}
	return names
}

// encode returns the signature and the body of the call.
func (p *plan) encode(args map[string]any) (signature string, body []byte, err error) {
	e := encoder{}
	signature = p.signature
	for _, s := range p.slots {
		v, given, err := s.value(args)
		if err != nil {
			return "", nil, err
		}
		at := parameter(s.param)
		t := s.typ
		switch {
		case !given && t == nil:
			return "", nil, aai.Errorf(aai.InvalidParams, "%s: expected a value; the app does not report its type", at)
		case !given && e.empty(t):
			continue
		case !given:
			return "", nil, aai.Errorf(aai.InvalidParams, "%s: expected a value of the D-Bus type %s, got none", at, t.Sig)
		case t == nil:
			if t, err = inferType(v, at); err != nil {
				return "", nil, err
			}
			signature += t.Sig
		}
		if err := e.value(v, t, at); err != nil {
			return "", nil, err
		}
	}
	if len(signature) > wire.MaxSignature {
		return "", nil,
			aai.Errorf(aai.InvalidParams, "the arguments have a D-Bus signature of more than %d bytes", wire.MaxSignature)
	}
	return signature, e.Bytes(), nil
}
