package dbus

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// Names of the buses in recipes.
const (
	sessionBus = "session"
	systemBus  = "system"
)

// Config is what a Driver must be told.
type Config struct {
	// AllowSystemBus says whether tools may work on the system bus.
	AllowSystemBus bool
	// Getenv looks up the variables of the person's session, for the addresses of the
	// buses, at every dialling. Nil knows of no session bus.
	Getenv func(name string) string
	// StartEntry starts a program by the id of its desktop entry, if that still has this command, and
	// returns what says whether it runs. It is asked only where the bus cannot start a service whose recipe names an
	// entry. Its error is an *aai.Error. Nil means that none can be started.
	StartEntry func(ctx context.Context, entry, command string) (runs func() bool, err error)
	// Log gets what nobody waits for. Nil means nowhere.
	Log *slog.Logger
}

// A Driver runs tools over D-Bus. It is an [aai.Driver], safe for concurrent use.
type Driver struct {
	config  Config
	session *bus
	system  *bus
}

// New makes a Driver. It does no I/O: each bus is dialled at the first call that
// needs it, and again at the first call after the connection was lost.
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

// Close closes the connections. Calls in flight end with delivery unknown, and
// later ones with APP_NOT_RUNNING.
func (d *Driver) Close() error {
	d.session.close()
	d.system.close()
	return nil
}

// Compile makes the Action of a recipe that has DBus or IPC set. Its error is an
// *aai.Error with code AAI_JSON_INVALID, or PERMISSION_DENIED for what may never
// be reached and for the system bus where it is not allowed; the message begins
// with the descriptor's field.
//
// The Action's results hold the reply as JSON values in Data: integers as int64 or
// uint64, doubles as float64 (NaN and the infinities as strings), bytes as a string
// if they are text and as {"base64": "…"} if not, structs as arrays, several
// values as an object by the names the app gives them, or else as an array. Its
// errors are *aai.Errors with Delivery set.
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

// target checks everything of a recipe that says where the call goes.
func (d *Driver) target(r *aai.Recipe, busField, service, path, iface, member string) (*target, error) {
	t := &target{service: service, path: path, iface: iface, member: member, requiresRunning: r.DBus != nil && r.DBus.Running}
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

// A methodTool calls a method.
type methodTool struct {
	*target
	params []string
	slots  []slot // what the method takes, without types
	named  bool   // the parameters may be told by their names
	parser string
	plan   atomic.Pointer[plan] // the last one made
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

// planFor returns the plan for the peer's object, the last one if the object is
// still the same. What was remembered of the object is looked at afresh before it
// is held against the call.
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
