// Package dbus runs the tools of Linux apps over D-Bus: it turns an [aai.Recipe]
// with DBus or IPC set into an [aai.Action].
//
// It dials the session bus (and, where the person's configuration allows it, the
// system bus), calls methods, and reads and sets properties. It touches nothing
// else: no files but the bus socket, no processes, no file descriptors of others.
//
// The way of one call, all of it within the call's deadline:
//
//	link       the one connection to that bus, dialled at the first call (bus.go, conn.go)
//	owner      who has the service's name; started by the bus if nobody (bus.go, names.go)
//	guard      whether that may be reached at all (guard.go)
//	introspect what the object says of its methods, remembered (introspect.go)
//	plan       which parameter goes where, as which type, remembered (plan.go)
//	encode     JSON to wire by signature (encode.go), decode the way back (decode.go)
//
// A message goes to the unique name of the owner that the guard has looked at, not
// to the service's name, so nothing can slip in between the look and the call, and
// a reply counts only if it comes from there or from the bus itself.
//
// The package speaks the wire protocol itself instead of through godbus, which
// blocks outside of the call's context when the bus stops reading, starts a
// goroutine for every call, closes the connection for all calls when one app
// replies with a type it cannot decode (a{b…}, a{g…}), and has no limit for the
// size of a reply below 128 MiB. The tests hold the codec against godbus.
//
// The protocol: https://dbus.freedesktop.org/doc/dbus-specification.html.
package dbus
