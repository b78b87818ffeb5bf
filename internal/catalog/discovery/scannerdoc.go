// Package ways looks for every way into the apps of this computer: what programs say
// of themselves on the session bus, what their desktop entries offer, and which MCP servers
// the person's clients start. For each way it says what would be gained by it and how one
// gets it; it takes none of them.
//
// It promises: nothing is started, called or changed for a look, which only asks what
// there is; a look ends within [DefaultScanTimeout], whatever a program does, and names whoever did not
// answer; strangers' names come out harmless; of configurations there are names and never
// values.
//
// A running gateway may look from time to time ([Scanner.Watch]): what is new is remembered in
// one file, which all gateways of the person share, so that only one of them looks. What
// was found is offered, and never switched on.
//
// The room knows the wire of D-Bus and files. Which apps have descriptors, which servers
// clients start and what the gateway would never call it is told by functions.
package discovery
