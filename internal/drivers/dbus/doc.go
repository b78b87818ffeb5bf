// Package dbus runs the tools of Linux apps over D-Bus: it turns an [aai.Recipe]
// with DBus or IPC set into an [aai.Action].
//
// It dials the session bus (and, where the person's configuration allows it, the
// system bus), calls methods, and reads and sets properties. It touches nothing
// else: no files but the bus socket, no processes, no file descriptors of others.
//
// The way of one call, all of it within the call's deadline:
//
//	link       the one connection to that bus, dialled at the first call (bus.go)
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
// Connections, messages and D-Bus types are those of the package dbuswire; what is
// here is JSON and the judgement of what may be called. The tests hold the values
// against godbus.
package dbus
