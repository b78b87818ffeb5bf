// Package dbus runs the tools of Linux apps over D-Bus: it turns an [aai.Recipe]
// with DBus or IPC set into an [aai.Action].
//
// It dials the session bus and, if the configuration allows it, the system bus. It calls methods, and reads and sets
// properties. It uses no files but the bus socket and passes on no file descriptors. Only the bus or
// [Config.StartEntry] starts a program for it.
//
// The steps of one call, all within the call's deadline:
//
//	link       get the shared connection to the bus, dialled at the first call (bus.go)
//	owner      find the owner of the service's name, or have the bus start it (bus.go, names.go)
//	guard      reject denied names, interfaces, members and paths (guard.go)
//	introspect read the object's description, cached (introspect.go)
//	plan       map parameters to arguments and types, cached (driver.go)
//	encode     JSON to wire by signature (encode.go); decode.go does the reverse
//
// A message goes to the unique name of the owner that the guard checked, not to the
// service's name. So the owner cannot change between the check and the call. The driver
// accepts a reply only from that owner or from the bus.
//
// Package internal/dbus/wire has the connections, messages and D-Bus types. This package has
// the conversion to JSON and the guard. The tests compare the values with godbus.
package dbus
