package dbus

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// Names of the buses in recipes.
const (
	sessionBus = "session"
	systemBus  = "system"
)

// Config configures a Driver.
type Config struct {
	// AllowSystemBus allows tools on the system bus.
	AllowSystemBus bool
	// Getenv looks up variables of the user's session for the bus addresses, at every dial. Nil
	// means that there is no session bus.
	Getenv func(name string) string
	// StartEntry starts a program by the id of its desktop entry, if the entry still has this command. The function
	// runs reports whether the program runs. The driver calls StartEntry only if the bus cannot start a service and
	// its recipe names an entry. Its error is an *aai.Error. Nil disables starting.
	StartEntry func(ctx context.Context, entry, command string) (runs func() bool, err error)
	// Log receives background events. Nil discards them.
	Log *slog.Logger
}

// Driver runs tools over D-Bus. It implements [aai.Driver] and is safe for concurrent use.
type Driver struct {
	config  Config
	session *bus
	system  *bus
}

// New returns a Driver. It does no I/O: the first call that needs a bus dials it, as does the
// first call after a lost connection.
func New(config Config) *Driver {
	if config.Getenv == nil {
		config.Getenv = func(string) string { return "" }
	}
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	return &Driver{
		config: config,
		session: newBus(sessionBus, func() (string, error) {
			return wire.SessionAddress(config.Getenv)
		}, config.Log),
		system: newBus(systemBus, func() (string, error) {
			return wire.SystemAddress(config.Getenv), nil
		}, config.Log),
	}
}

// Close closes the connections. Calls in flight end with delivery unknown, and later ones with
// APP_NOT_RUNNING.
func (d *Driver) Close() error {
	d.session.close()
	d.system.close()
	return nil
}

// Compile returns the Action of a recipe that has DBus or IPC set. Its error is an *aai.Error with
// code AAI_JSON_INVALID, or PERMISSION_DENIED for a denied target or a disallowed system bus. The
// message begins with the descriptor's field.
//
// The Action's results hold the reply as JSON values in Data: integers as int64 or
// uint64, doubles as float64 (NaN and the infinities as strings), structs as arrays. Bytes
// are a string if they are text, otherwise {"base64": "…"}. Several values are an object
// by the app's names for them, otherwise an array. Its errors are *aai.Errors with Delivery set.
func (d *Driver) Compile(r *aai.Recipe) (aai.Action, error) {
	if err := checkParser(r.OutputParser); err != nil {
		return nil, err
	}
	for i, name := range r.Params {
		if slices.Contains(r.Params[:i], name) {
			return nil, invalid("parameters", "every name once", name)
		}
	}
	switch {
	case r.DBus != nil && r.DBus.Property != "":
		return d.compileProperty(r)
	case r.DBus != nil:
		return d.compileMethod(r)
	case r.IPC != nil:
		return d.compileEnvelope(r)
	}
	return nil, aai.Errorf(aai.DescriptorInvalid, "execution: expected a D-Bus method, property or ipc handler")
}

// target checks the fields of a recipe that address the call.
func (d *Driver) target(r *aai.Recipe, busField, service, path, iface, member string) (*target, error) {
	t := &target{service: service, path: path, iface: iface, member: member,
		requiresRunning: r.DBus != nil && r.DBus.Running}
	if r.Start != "" && d.config.StartEntry != nil {
		t.start = func(ctx context.Context) (func() bool, error) { return d.config.StartEntry(ctx, r.Start, r.Starts) }
	}
	switch {
	case !validBusName(service):
		return nil, invalid("service", "a well-known D-Bus name such as org.example.App", service)
	case !wire.ValidPath(path):
		return nil, invalid("object", "a D-Bus object path such as /org/example/App", path)
	case !wire.ValidInterface(iface):
		return nil, invalid("interface", "a D-Bus interface such as org.example.App", iface)
	}
	switch busField {
	case sessionBus, "":
		t.bus = d.session
	case systemBus:
		if !d.config.AllowSystemBus {
			err := aai.Errorf(aai.PermissionDenied, "bus: the system bus is off (dbus.allowSystemBus)")
			err.Hint = "The person at this computer can allow it by setting dbus.allowSystemBus to true in the configuration."
			return nil, err
		}
		t.bus = d.system
	default:
		return nil, invalid("bus", `"session" or "system"`, busField)
	}
	return t, nil
}

func invalid(field, expected, got string) *aai.Error {
	return aai.Errorf(aai.DescriptorInvalid, "%s: expected %s, got %q", field, expected, aai.CleanLabel(got, 100))
}

// methodTool is a tool that calls a D-Bus method.
type methodTool struct {
	*target
	params []string
	slots  []slot // the method's arguments, without types
	named  bool   // parameters may match by name
	parser string
	plan   atomic.Pointer[plan] // the latest one
}

func (d *Driver) compileMethod(r *aai.Recipe) (aai.Action, error) {
	b := r.DBus
	t, err := d.target(r, b.Bus, b.Service, b.Object, b.Interface, b.Method)
	if err != nil {
		return nil, err
	}
	if !wire.ValidMember(b.Method) {
		return nil, invalid("method", "the name of a D-Bus method such as Open", b.Method)
	}
	if b.Access != "" {
		return nil, aai.Errorf(aai.DescriptorInvalid, "access: expected a property beside it, got the method %s", b.Method)
	}
	if err := checkReach(t.service, t.path, t.iface, b.Method); err != nil {
		return nil, err
	}
	slots, err := slotsOf(b.Args, r.Params)
	if err != nil {
		return nil, err
	}
	m := &methodTool{target: t, params: r.Params, slots: slots, named: b.Args == nil, parser: r.OutputParser}
	return m.run, nil
}

func (m *methodTool) run(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	var outs []string
	reply, err := m.callPeer(ctx, func(ctx context.Context, p *peer) (*wire.Message, *failure) {
		plan, f := m.planFor(ctx, p)
		if f != nil {
			return nil, f
		}
		outs = plan.outs
		signature, body, err := plan.encode(call.Args)
		if err != nil {
			return nil, &failure{err: aai.AsError(err)}
		}
		return &wire.Message{Interface: m.iface, Member: m.member, Signature: signature, Body: body}, nil
	})
	if err != nil {
		return nil, err
	}
	values, err := valuesOf(reply)
	if err != nil {
		return nil, m.unreadable(err)
	}
	return m.result(combineValues(values, outs), m.parser)
}

// planFor returns the plan for the peer's object, the latest one if the object is unchanged. If a
// cached object does not fit the call, planFor introspects it again before it fails.
func (m *methodTool) planFor(ctx context.Context, p *peer) (*plan, *failure) {
	for {
		o, remembered, f := p.introspect(ctx)
		if f != nil {
			return nil, f
		}
		if last := m.plan.Load(); last != nil && last.object == o {
			return last, nil
		}
		made, err := newPlan(o, m)
		if err == nil {
			m.plan.Store(made)
			return made, nil
		}
		if !remembered {
			return nil, &failure{err: err}
		}
		p.link.objects.drop(p.owner, p.path)
	}
}

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
