package dbus

import (
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// What may never be reached, whatever a descriptor says: whoever can call these
// can run programs as the user, rule the screen, read all passwords or decide about
// permissions. It is looked at when a recipe is compiled and again when it is called.

// isTainting reports whether the owner of the name may not be reached by any other
// name either. Desktop shells own a name for keyring prompts and some for portal
// back ends beside their own; those objects are kept out of reach by their
// interfaces and paths, and the shell's other tools stay usable.
func isTainting(name string) bool {
	if isDenied(name, []string{"org.gnome.keyring.SystemPrompter", "org.freedesktop.impl.portal*"}) {
		return false
	}
	return isDenied(name, deniedNames())
}

// IsNeverCalled reports whether no descriptor can make a tool that calls the interface of the
// service; an empty interface stands for all that the service has.
func IsNeverCalled(service, iface string) bool {
	return isDenied(service, deniedNames()) || isDenied(iface, deniedNames()) || isDenied(iface, deniedInterfaces())
}

// busMembers are all the methods of the bus itself that a tool may call: those
// that only tell something.
func busMembers() []string {
	return []string{
		"ListNames", "ListActivatableNames", "ListQueuedOwners", "NameHasOwner", "GetNameOwner", "GetId",
		"GetConnectionUnixUser", "GetConnectionUnixProcessID", "GetConnectionCredentials",
		"Get", "GetAll", "Introspect", "Ping", "GetMachineId",
	}
}

// checkReach refuses what may never be reached. The member is a method's name, or
// "Set" for a property that is set. Its error is an *aai.Error with code
// PERMISSION_DENIED whose message begins with the descriptor's field.
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

// checkRequest is checkReach for a message that is about to be sent. One to the
// Properties interface names the interface it is really about in its first
// argument, as others name the settings that they write.
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
			return unreachable("method", m.Interface+"."+m.Member+" for settings that hold commands")
		}
	}
	return nil
}

func unreachable(field, name string) *aai.Error {
	err := aai.Errorf(aai.PermissionDenied, "%s: %s can never be reached through this gateway", field, aai.CleanLabel(name, wire.MaxName))
	err.Hint = "It could run programs, rule the screen, read passwords or decide about permissions. No setting allows it."
	err.Delivery = aai.NotDelivered
	return err
}
