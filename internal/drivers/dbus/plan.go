package dbus

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// plansFor returns the plans for the peer's object, the latest ones if the object is unchanged. If a
// cached object does not fit the call, plansFor introspects it again before it fails.
func (m *methodTool) plansFor(ctx context.Context, p *peer) (*planSet, *failure) {
	for {
		o, remembered, f := p.introspect(ctx)
		if f != nil {
			return nil, f
		}
		if last := m.plans.Load(); last != nil && last.object == o {
			return last, nil
		}
		made, err := newPlanSet(o, m)
		if err == nil {
			m.plans.Store(made)
			return made, nil
		}
		if !remembered {
			return nil, &failure{err: err}
		}
		p.link.objects.drop(p.owner, p.path)
	}
}

// planSet holds the plans for a tool's method, best first. There is more than one if the object has
// several methods of the name that the tool's arguments may be for.
type planSet struct {
	object *object // the object that they are for
	plans  []*plan
}

// plan maps the arguments of a call to those of one D-Bus method.
type plan struct {
	slots    []slot   // in wire order; a slot's type is inferred from the value if it has none
	outs     []string // names for the values of the reply, or nil
	byName   bool     // the parameters have the names of the arguments
	overload string   // the method with its arguments, for messages
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

// newPlanSet makes the plans for a tool's method from the object's introspection data. Without data
// for the interface, the arguments keep the descriptor's order and their types are inferred.
func newPlanSet(o *object, tool *methodTool) (*planSet, *aai.Error) {
	t := tool.target
	set := &planSet{object: o}
	described := o.interfaces[t.iface]
	if described == nil {
		set.plans = []*plan{{slots: tool.slots}}
		return set, nil
	}
	all := described.methods[t.member]
	if len(all) == 0 {
		err := aai.Errorf(aai.AutomationFailed, "%s has no method %s in %s", t.service, t.member, t.iface)
		err.Candidates = aai.Nearest(t.member, slices.Sorted(maps.Keys(described.methods)), 5)
		err.Hint = versionHint + " Use another of its tools."
		return nil, err
	}
	var byName, byOrder, malformed []*plan
	var fault *aai.Error
	for _, m := range slices.Backward(all) { // a descriptor without a signature means the last one
		made, err := newPlan(m, tool)
		switch {
		case err != nil:
			fault = cmp.Or(fault, err)
		case m.malformed:
			malformed = append(malformed, made)
		case made.byName:
			byName = append(byName, made)
		default:
			byOrder = append(byOrder, made)
		}
	}
	if set.plans = slices.Concat(byName, byOrder); len(set.plans) == 0 {
		set.plans = malformed
	}
	switch {
	case len(set.plans) > 0:
		return set, nil
	case len(all) > 1:
		return nil, overloadMismatch(tool, all)
	}
	return nil, fault
}

const versionHint = "The app may have another version than its descriptor."

// newPlan makes the plan for one method of the tool's name.
func newPlan(m *method, tool *methodTool) (*plan, *aai.Error) {
	p := &plan{slots: slices.Clone(tool.slots), overload: signatureWords(tool.target, m)}
	if m.malformed {
		return p, nil
	}
	if err := takesDescriptors(tool.target, m); err != nil {
		return nil, err
	}
	if len(m.ins) != len(p.slots) || tool.signature != "" && tool.signature != m.signature() {
		return nil, overloadMismatch(tool, []*method{m})
	}
	p.outs = outNames(m.outs)
	if tool.named {
		var order []string
		order, p.byName = orderByName(m.ins, tool.params)
		for i, name := range order {
			p.slots[i].param = name
		}
	}
	for i, in := range m.ins {
		p.slots[i].typ = in.typ
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

// overloadMismatch reports that none of the methods takes the tool's arguments.
func overloadMismatch(tool *methodTool, all []*method) *aai.Error {
	t, field, listed := tool.target, "args", make([]string, len(tool.slots))
	for i, s := range tool.slots {
		listed[i] = s.param
	}
	if tool.named {
		field = "parameters"
	}
	given := "(" + strings.Join(listed, ", ") + ")"
	if t.signature != "" {
		field, given = "signature", "the signature "+t.signature
	}
	takes := make([]string, len(all))
	for i, m := range all {
		takes[i] = signatureWords(t, m)
	}
	err := aai.Errorf(aai.DescriptorInvalid, "%s: the descriptor lists %s, but %s has %s",
		field, given, t.service, strings.Join(takes, ", "))
	err.Hint = versionHint + " The descriptor's maintainer can correct it."
	return err
}

// signatureWords returns a method with the names and types of its arguments.
func signatureWords(t *target, m *method) string {
	ins := make([]string, 0, len(m.ins))
	for _, in := range m.ins {
		ins = append(ins, strings.TrimSpace(aai.CleanLabel(in.name, 60)+" "+in.typ.Sig))
	}
	return t.member + "(" + strings.Join(ins, ", ") + ")"
}

// orderByName returns the parameter for each argument: by name if every argument has a parameter
// of its name, which named reports, otherwise by position.
func orderByName(ins []argument, params []string) (order []string, named bool) {
	byName := map[string]string{}
	for _, name := range params {
		byName[normalizedName(name)] = name
	}
	order = make([]string, len(ins))
	taken := map[string]bool{}
	for i, in := range ins {
		name, ok := byName[normalizedName(in.name)]
		if !ok || taken[name] {
			return params, false
		}
		taken[name] = true
		order[i] = name
	}
	return order, true
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

// encode returns the message of the first plan that the arguments fit, and that plan.
func (s *planSet) encode(args map[string]any) (*wire.Message, *plan, error) {
	var first error
	takes := make([]string, 0, len(s.plans))
	for _, p := range s.plans {
		signature, body, err := p.encode(args)
		if err == nil {
			return &wire.Message{Signature: signature, Body: body}, p, nil
		}
		if first == nil {
			first = err
		}
		takes = append(takes, p.overload)
	}
	if len(takes) > 1 {
		e := *aai.AsError(first)
		e.Message += "; the app has " + strings.Join(takes, ", ")
		first = &e
	}
	return nil, nil, first
}

// encode returns the signature and the body of the call.
func (p *plan) encode(args map[string]any) (signature string, body []byte, err error) {
	e := encoder{}
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
			signature += t.Sig
			continue
		case !given:
			return "", nil, aai.Errorf(aai.InvalidParams, "%s: expected a value of the D-Bus type %s, got none", at, t.Sig)
		case t == nil:
			if t, err = inferType(v, at); err != nil {
				return "", nil, err
			}
		}
		signature += t.Sig
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
