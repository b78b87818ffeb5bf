// Package desktop models the screen as assistive technology sees it, independent of the platform. It does
// no I/O and imports only the root package.
//
// A running program is an [App]. Its tree is read as a [Snapshot]: the [Element]s in reading order, with
// ARIA roles. Predicates of Element tell whether it can be operated, contains others, or is blank.
// Subpackages work on snapshots: query finds elements, refs keeps names beyond one snapshot, render formats
// a snapshot for a model's context, and delta compares two.
//
// A platform implements the interfaces of [Backend]; internal/platform/linux/atspi and
// internal/platform/linux/x11 do so for Linux, and platform_linux.go of the program joins them. Every
// implementation must pass the suite in desktoptest.
package desktop
