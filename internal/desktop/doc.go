// Package desktop is the screen as assistive technology sees it, in words that no
// platform owns.
//
// A program that runs is an [App]. What it shows is read as a [Snapshot]: its
// [Element]s in the order a person would meet them, with roles in ARIA's words.
// Whether an element acts, holds others or says nothing, it says itself. What is made
// of snapshots has rooms of its own, which are the same on every platform: query says
// which element is meant, refs are names that outlive a snapshot, outline fits it into
// a model's context, and delta tells what has changed between two.
//
// What a platform must do is the interfaces of [Backend]; internal/platform/linux/atspi
// and internal/platform/linux/x11 do it for Linux, and platform_linux.go of the program joins
// them. Whoever does it elsewhere passes the suite in desktoptest. This package does no
// I/O and imports only the root.
package desktop
