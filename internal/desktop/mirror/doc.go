// Package mirror keeps what was read of one app for as long as it is surely still so:
// the part of a platform's backend that knows no platform. A [Mirror] decides what to
// read again and when, gives snapshots their versions, and reads once more in the
// background what nobody has confirmed yet. How an app is read its [Source] knows.
//
// What it goes by: an app that has not run since has not changed, see [Pulse]; one that
// tells of what changes in it, see [Marks], is asked for that alone, and for what apps of its
// kind leave out, see [Candour]; all others are read as a whole. What counts for how long is the table in state.go.
//
// [Watchers] hand out an app's events, and [Secrets] remember what has been a password
// field, for every backend in the same way.
package mirror
