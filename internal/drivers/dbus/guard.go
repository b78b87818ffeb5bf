package dbus

import (
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// Targets that no descriptor may reach: their callers could run programs as the user, control the
// screen, read all passwords or decide about permissions. The driver checks at compile time and
// again at each call.

// isTainting reports whether the owner of the name is denied under its other names too. Desktop
// shells own a name for keyring prompts and some for portal back ends. The guard denies those
// objects by interface and path, so that the shell's other tools stay usable.
func isTainting(name string) bool {
	if isDenied(name, []string{"org.gnome.keyring.SystemPrompter", "org.freedesktop.impl.portal*"}) {
		return false
	}
	return isDenied(name, deniedNames())
}

// IsNeverCalled reports whether the guard denies the interface of the service to every descriptor.
// An empty interface means the service as a whole.
func IsNeverCalled(service, iface string) bool {
	return isDenied(service, deniedNames()) || isDenied(iface, deniedNames()) || isDenied(iface, deniedInterfaces())
}

// busMembers lists the methods of the bus itself that a tool may call. They only read.
func busMembers() []string {
	return []string{
		"ListNames", "ListActivatableNames", "ListQueuedOwners", "NameHasOwner", "GetNameOwner", "GetId",
		"GetConnectionUnixUser", "GetConnectionUnixProcessID", "GetConnectionCredentials",
		"Get", "GetAll", "Introspect", "Ping", "GetMachineId",
	}
}

// checkReach rejects denied targets. member is a method's name, or "Set" for a property that is
// set. Its error is an *aai.Error with code PERMISSION_DENIED. The message begins with the
// descriptor's field.
func checkReach(service, path, iface, member string) error {
	switch {
	case isDenied(service, deniedNames()):
		return unreachable("service", service)
	case isDenied(iface, deniedNames()), isDenied(iface, deniedInterfaces()):
		return unreachable("interface", iface)
	case isDeniedMember(iface, member):
		return unreachable("method", iface+"."+member)
	case isDenied(path, deniedPaths()):
		return unreachable("object", path)
	case service == wire.BusName && !slices.Contains(busMembers(), member):
		return unreachable("method", wire.BusName+"."+member)
	}
	return nil
}

// checkRequest is checkReach for a message before it is sent. In a message to the Properties
// interface, the first argument names the real interface. In messages that write settings, it
// names the setting.
func (p *peer) checkRequest(m *wire.Message) error {
	if err := checkReach(p.service, p.path, m.Interface, m.Member); err != nil {
		return err
	}
	if m.Interface == propertyInterface {
		named, err := textsOf(m, 1)
		if err != nil {
			return unreachable("interface", "a property of an interface that is not named")
		}
		return checkReach(p.service, p.path, named[0], m.Member)
	}
	if settings := deniedSettings(m.Interface, m.Member); settings != nil {
		if named, err := textsOf(m, 1); err != nil || isDenied(named[0], settings) {
			return unreachable("method", m.Interface+"."+m.Member+" for settings that contain commands")
		}
	}
	return nil
}

func unreachable(field, name string) *aai.Error {
	err := aai.Errorf(aai.PermissionDenied, "%s: %s can never be reached through this gateway", field,
		aai.CleanLabel(name, wire.MaxName))
	err.Hint = "It could run programs, control the screen, read passwords or grant permissions. No setting allows it."
	err.Delivery = aai.NotDelivered
	return err
}
