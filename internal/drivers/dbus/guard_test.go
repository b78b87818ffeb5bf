package dbus

import (
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/testkit"
)

func TestDeniedRecipesDoNotCompile(t *testing.T) {
	type recipe = aai.DBusRecipe
	const ok = "org.example.App"
	d := New(Config{AllowSystemBus: true})
	for _, r := range []recipe{
		{Service: "org.freedesktop.systemd1", Object: "/x", Interface: ok},
		{Service: "org.freedesktop.PolicyKit1", Object: "/x", Interface: ok},
		{Service: "org.freedesktop.secrets", Object: "/x", Interface: ok},
		{Service: "org.gnome.keyring", Object: "/x", Interface: ok},
		{Service: "org.gnome.keyring.SystemPrompter", Object: "/x", Interface: ok},
		{Service: "org.kde.kwalletd6", Object: "/x", Interface: ok},
		{Service: "org.freedesktop.impl.portal.desktop.gnome", Object: "/x", Interface: ok},
		{Service: "org.freedesktop.Flatpak", Object: "/x", Interface: ok},
		{Service: ok, Object: "/x", Interface: "org.freedesktop.systemd1.Manager"},
		{Service: ok, Object: "/x", Interface: "org.freedesktop.Secret.Collection"},
		{Service: ok, Object: "/x", Interface: "org.freedesktop.impl.portal.Access"},
		{Service: ok, Object: "/x", Interface: "org.freedesktop.DBus.Monitoring"},
		{Service: ok, Object: "/org/freedesktop/secrets/collection/login", Interface: ok},
		{Service: ok, Object: "/modules/kwalletd5", Interface: ok},
		{Service: ok, Object: "/org/freedesktop/systemd1/unit/x", Interface: ok},
	} {
		for _, bus := range []string{"session", "system"} {
			r.Bus = bus
			method, property := r, r
			method.Method = "Get"
			property.Property = "Name"
			for _, one := range []recipe{method, property} {
				action, err := d.Compile(&aai.Recipe{DBus: &one})
				e := aai.AsError(err)
				assert.Assert(t, action == nil, "%+v %v", one, err)
				assert.Assert(t, e != nil, "%+v %v", one, err)
				assert.Equal(t, e.Code, aai.PermissionDenied, "%+v %v", one, err)
			}
		}
		ipc := &aai.IPCRecipe{Service: r.Service, Object: r.Object, Interface: r.Interface}
		_, err := d.Compile(&aai.Recipe{IPC: ipc})
		assert.Check(t, err != nil, "%+v compiles", ipc)
	}
}

func TestOnlyTheBusItselfMayChangeTheBus(t *testing.T) {
	b := testkit.StartBus(t)
	d := newDriver(t, b)
	at := func(iface, method string, params ...string) *aai.Recipe {
		return &aai.Recipe{Params: params, DBus: &aai.DBusRecipe{Service: wire.BusName, Object: wire.BusPath, Interface: iface, Method: method}}
	}
	for _, method := range []string{
		"UpdateActivationEnvironment", "RequestName", "ReleaseName", "AddMatch", "RemoveMatch", "StartServiceByName",
		"BecomeMonitor", "ReloadConfig", "Hello", "Set",
	} {
		_, err := d.Compile(at(wire.BusInterface, method))
		assert.Assert(t, aai.AsError(err) != nil, "%s %v", method, err)
		assert.Equal(t, aai.AsError(err).Code, aai.PermissionDenied, "%s %v", method, err)
	}
	r := at(wire.BusInterface, "")
	r.DBus.Property, r.DBus.Access, r.Params = "Features", "set", []string{"v"}
	_, err := d.Compile(r)
	assert.Check(t, err != nil, "a property of the bus may be set")
	assert.Check(t, is.Equal(run(t, compile(t, d, at(wire.BusInterface, "NameHasOwner", "name")), map[string]any{"name": wire.BusName}).Data, true))
}

// A guarded service cannot be reached by another name that its process owns.
func TestOwnerOfADeniedNameIsDenied(t *testing.T) {
	b := testkit.StartBus(t)
	holder := testkit.ServeOnBus(t, b, "org.freedesktop.secrets", service)
	d := newDriver(t, b)
	action := compile(t, d, methodRecipe("EchoString", "v"))
	args := map[string]any{"v": "a"}
	fail(t, action, args, aai.PermissionDenied, aai.NotDelivered)
	n := holder.Calls("EchoString")
	assert.Equal(t, n, 0, "%d calls were delivered", n)

	// Later name changes on the bus count as well.
	release(t, holder, "org.freedesktop.secrets")
	settled(t, d, func(n *nameTable) bool { return len(n.tainted) == 0 })
	run(t, action, args)
	request(t, holder, "org.kde.kwalletd6")
	settled(t, d, func(n *nameTable) bool { return len(n.tainted) == 1 })
	fail(t, action, args, aai.PermissionDenied, aai.NotDelivered)
	n = holder.Calls("EchoString")
	assert.Check(t, is.Equal(n, 1), "%d calls were delivered instead of 1", n)
}

// Any app may send a signal; only the bus's signals count.
func TestOnlyTheBusSpeaksOfNames(t *testing.T) {
	l := &busLink{names: newNameTable(), objects: newObjectCache()}
	l.names.owners[service] = ":1.5"
	body := encoder{}
	for _, s := range []string{service, ":1.5", ":1.6"} {
		body.Str(s)
	}
	m := wire.Message{Sender: ":1.6", Member: "NameOwnerChanged", Signature: "sss", Body: body.Bytes(), Order: binary.LittleEndian}
	l.handleSignal(&m)
	assert.Check(t, is.Equal(l.names.owner(service), ":1.5"), "an app was believed")
	m.Sender = wire.BusName
	l.handleSignal(&m)
	assert.Check(t, is.Equal(l.names.owner(service), ""))
	m.Signature = "s" // no bus sends this
	l.handleSignal(&m)
}

// Desktop shells own the name for keyring prompts; their other tools stay usable.
func TestOwnerOfAPromptNameIsReachable(t *testing.T) {
	b := testkit.StartBus(t)
	testkit.ServeOnBus(t, b, "org.gnome.keyring.SystemPrompter", "org.freedesktop.impl.portal.desktop.gnome", service)
	run(t, compile(t, newDriver(t, b), methodRecipe("EchoString", "v")), map[string]any{"v": "a"})
}

func TestPropertiesOfDeniedInterfacesAreDenied(t *testing.T) {
	b := testkit.StartBus(t)
	s := testkit.ServeOnBus(t, b, service)
	r := methodRecipe("Get", "interface_name", "property_name")
	r.DBus.Interface = propertyInterface
	action := compile(t, newDriver(t, b), r)
	args := map[string]any{"interface_name": "org.freedesktop.Secret.Item", "property_name": "Label"}
	fail(t, action, args, aai.PermissionDenied, aai.NotDelivered)
	n := s.Calls("Get")
	assert.Check(t, is.Equal(n, 0), "%d calls were delivered", n)
	args["interface_name"], args["property_name"] = testkit.ServiceInterface, "Version"
	assert.Check(t, is.Equal(run(t, action, args).Data, "1.2"))
}

// The guard repeats the checks of Compile on the message.
func TestGuardLooksAtTheMessage(t *testing.T) {
	b := testkit.StartBus(t)
	s := testkit.ServeOnBus(t, b, service)
	d := newDriver(t, b)
	for _, m := range []wire.Message{
		{Interface: "org.freedesktop.systemd1.Manager", Member: "StartUnit"},
		{Interface: "org.freedesktop.DBus.Monitoring", Member: "BecomeMonitor"},
	} {
		to := &target{bus: d.session, service: service, path: testkit.ServicePath, iface: testkit.ServiceInterface, member: m.Member}
		_, err := to.callPeer(soon(t), func(context.Context, *peer) (*wire.Message, *failure) { return &m, nil })
		e, ok := errors.AsType[*aai.Error](err)
		assert.Assert(t, ok, "%s %v", m.Interface, err)
		assert.Equal(t, e.Code, aai.PermissionDenied, "%s %v", m.Interface, err)
		assert.Assert(t, strings.HasPrefix(e.Message, "interface:"), "%s %v", m.Interface, err)
		n := s.Calls(m.Member)
		assert.Check(t, is.Equal(n, 0), "%d calls were delivered", n)
	}
}

func TestBusNamesOfServices(t *testing.T) {
	for name, want := range map[string]bool{"org.example.App": true, "a-b.c": true, ":1.2": false, "org": false, "": false, "1.a": false} {
		assert.Check(t, is.Equal(validBusName(name), want), "%q", name)
	}
}
