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
	plans  atomic.Pointer[planSet] // the latest ones
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
	types, err := wire.ParseSignature(b.Signature)
	switch {
	case err != nil:
		return nil, invalid("signature", `the types of the method's arguments such as "sas"`, b.Signature)
	case b.Signature != "" && len(types) != len(slots):
		return nil, aai.Errorf(aai.DescriptorInvalid, "signature: %q has %d types, but the tool has %d arguments",
			aai.CleanLabel(b.Signature, 100), len(types), len(slots))
	}
	t.signature = b.Signature
	for i := range types {
		slots[i].typ = types[i]
	}
	m := &methodTool{target: t, params: r.Params, slots: slots, named: b.Args == nil, parser: r.OutputParser}
	return m.run, nil
}

func (m *methodTool) run(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	var outs []string
	reply, err := m.callPeer(ctx, func(ctx context.Context, p *peer) (*wire.Message, *failure) {
		plans, f := m.plansFor(ctx, p)
		if f != nil {
			return nil, f
		}
		message, plan, err := plans.encode(call.Args)
		if err != nil {
			return nil, &failure{err: aai.AsError(err)}
		}
		outs = plan.outs
		message.Interface, message.Member = m.iface, m.member
		return message, nil
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
