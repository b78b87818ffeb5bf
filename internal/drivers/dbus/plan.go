package dbus

import (
	"maps"
	"slices"
	"strings"

	"aai"
	"aai/internal/dbuswire"
)

// A plan says how the arguments of a call become those of a D-Bus method.
type plan struct {
	object    *object // from which it was made
	slots     []slot  // in the order of the wire
	signature string
	inferred  bool     // the types are to be found from the values
	outs      []string // names for the values of the reply, or nil
}

// A slot is one argument on the wire.
type slot struct {
	param string
	typ   *dbuswire.Type
}

// newPlan makes the plan for a method from what its object says. With no word of
// the interface, the parameters go in the descriptor's order, with inferred types.
func newPlan(o *object, t *target, params []string) (*plan, *aai.Error) {
	described := o.interfaces[t.iface]
	if described == nil {
		return inferredPlan(o, params), nil
	}
	m := described.methods[t.member]
	if m == nil {
		err := aai.Errorf(aai.AutomationFailed, "%s has no method %s in %s", t.service, t.member, t.iface)
		err.Candidates = aai.Nearest(t.member, slices.Sorted(maps.Keys(described.methods)), 5)
		err.Hint = "The app may be of another version than its descriptor. Use another of its tools."
		return nil, err
	}
	if m.unclear {
		return inferredPlan(o, params), nil
	}
	if err := takesDescriptors(t, m); err != nil {
		return nil, err
	}
	if len(m.ins) != len(params) {
		return nil, countMismatch(t, m, params)
	}
	p := &plan{object: o, outs: outNames(m.outs)}
	order := orderByName(m.ins, params)
	for i, in := range m.ins {
		p.slots = append(p.slots, slot{order[i], in.typ})
		p.signature += in.typ.Sig
	}
	return p, nil
}

func inferredPlan(o *object, params []string) *plan {
	p := &plan{object: o, inferred: true}
	for _, name := range params {
		p.slots = append(p.slots, slot{param: name})
	}
	return p
}

// takesDescriptors refuses methods that pass file descriptors, in replies too:
// the bus does not pass on a reply that we could not receive.
func takesDescriptors(t *target, m *method) *aai.Error {
	for _, a := range slices.Concat(m.ins, m.outs) {
		if hasDescriptor(a.typ) {
			return noDescriptors(t.member + " " + a.name)
		}
	}
	return nil
}

func countMismatch(t *target, m *method, params []string) *aai.Error {
	ins := make([]string, 0, len(m.ins))
	for _, in := range m.ins {
		ins = append(ins, strings.TrimSpace(aai.CleanLabel(in.name, 60)+" "+in.typ.Sig))
	}
	err := aai.Errorf(aai.DescriptorInvalid, "parameters: the descriptor lists (%s), but %s of %s takes (%s)",
		strings.Join(params, ", "), t.member, t.service, strings.Join(ins, ", "))
	err.Hint = "The app may be of another version than its descriptor. Whoever keeps the descriptor can put it right."
	return err
}

// orderByName returns for each argument the parameter that goes there: the one of
// the same name if every argument has one, else the one at the same position.
func orderByName(ins []argument, params []string) []string {
	byName := map[string]string{}
	for _, name := range params {
		byName[plain(name)] = name
	}
	order := make([]string, len(ins))
	taken := map[string]bool{}
	for i, in := range ins {
		name, ok := byName[plain(in.name)]
		if !ok || taken[name] {
			return params
		}
		taken[name] = true
		order[i] = name
	}
	return order
}

// plain leaves of a name what does not depend on taste.
func plain(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}

// outNames are the names of the reply's values if all have one of their own.
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

// encode makes the body of the call and its signature.
func (p *plan) encode(args map[string]any) (signature string, body []byte, err error) {
	if err := p.checkNames(args); err != nil {
		return "", nil, err
	}
	e := encoder{}
	signature = p.signature
	for _, s := range p.slots {
		v, given := args[s.param]
		at := parameter(s.param)
		t := s.typ
		switch {
		case !given && t == nil:
			return "", nil, aai.Errorf(aai.InvalidParams, "%s: expected a value; the app does not say which type it wants", at)
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
	if len(signature) > dbuswire.MaxSignature {
		return "", nil, aai.Errorf(aai.InvalidParams, "the arguments have a D-Bus signature of more than %d bytes", dbuswire.MaxSignature)
	}
	return signature, e.Bytes(), nil
}

// checkNames refuses arguments for which there is no place, rather than to drop
// them in silence.
func (p *plan) checkNames(args map[string]any) error {
	for name := range args {
		if !slices.ContainsFunc(p.slots, func(s slot) bool { return s.param == name }) {
			return aai.Errorf(aai.InvalidParams, "%s: the tool has no such parameter", aai.CleanLabel(name, 60))
		}
	}
	return nil
}
