// Package desktop is the screen as assistive technology sees it, in words that no
// platform owns.
//
// A program that runs is an [App]. What it shows is read as a [Snapshot]: its
// [Element]s in the order a person would meet them, with roles in ARIA's words.
// Everything that only looks at snapshots is here and is the same on every
// platform: the query language ([ParseQuery]), and in rooms of their own
// references that outlive a snapshot (refs), what it shows in a model's context (outline)
// and what has changed between two of them (delta).
//
// What a platform must do is the interfaces of [Backend]; internal/desktop/atspi
// and internal/desktop/x11 do it for Linux. This package does no I/O and imports
// only the root.
package desktop
