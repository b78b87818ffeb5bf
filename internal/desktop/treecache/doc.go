// Package mirror keeps what was read of one app for as long as it is surely still so:
// the part of a platform's backend that knows no platform. A [Cache] decides what to
// read again and when, gives snapshots their versions, and reads once more in the
// background what nobody has confirmed yet. How an app is read its [Source] knows.
//
// What it goes by: an app that has not run since has not changed, see [Heartbeat]; one that
// tells of what changes in it, see [DirtySet], is asked for that alone, and for what apps of its
// kind leave out, see [Trust]; all others are read as a whole. What counts for how long is the table in state.go.
//
// [Broadcaster] hand out an app's events, and [PasswordFields] remember what has been a password
// field, for every backend in the same way.
package treecache
