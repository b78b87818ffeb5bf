// Package introspect generates descriptors for programs that have none. It queries a D-Bus
// service (introspection, org.gtk.Actions and org.gtk.Menus, the desktop entry) and writes an
// aai.json. The entry point is [Generator]. The steps are:
//
//	find       the service, its bus and its desktop entry (find.go, entry.go)
//	walk       the interfaces and actions of its objects (walk.go, xml.go, gtk.go)
//	draft      a tool for each operation (draft.go, schema.go, effect.go, knownmembers.go)
//	check      every property is read once, as generated (check.go)
//	words      better descriptions are merged (mergewords.go, model.go, wordsprovider.go)
//	save       the text that a person has reviewed is written (tools.go)
//
// Introspection data is untrusted. The package reads it within limits, omits and notes invalid
// parts, and never lowers an effect because of it: a method not known to read is destructive.
//
// The package calls the bus through an [aai.Driver] with ordinary recipes, so the driver's
// restrictions apply. It calls only methods that read: Introspect, property reads, and the
// listings in its table of known interfaces.
package introspect
