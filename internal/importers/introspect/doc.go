// Package generate writes the descriptor of a program that has none: it asks a service on
// D-Bus what it says of itself (introspection, org.gtk.Actions and org.gtk.Menus, the
// program's desktop entry) and makes an aai.json of that.
//
// The way of one:
//
//	find       which service is meant, on which bus, and its desktop entry (find.go, entry.go)
//	walk       what its objects say of themselves (walk.go, xml.go, gtk.go)
//	draft      a tool for each thing that can be done (draft.go, schema.go, effect.go, known.go)
//	check      every property is read once, as generated (check.go)
//	words      better ones are taken, and nothing but words (better.go, model.go, improve.go)
//	save       a person has seen the text, and this text is written (tools.go)
//
// What a program says of itself is a stranger's word. It is read within limits, what is
// wrong in it is left out and named, and nothing of it lowers an effect: what is not known
// to read destroys.
//
// The room asks the bus through an [aai.Driver], with recipes as descriptors have them, so
// what that keeps out of reach is out of reach here. It calls what only tells something:
// Introspect, properties, and the listings of its table of known interfaces. It imports
// the catalog, which writes descriptors, and lint, which looks at them.
package introspect
