// Package treecache keeps the last reading of one app as long as it is certainly current. It is the
// platform-independent part of a backend. A [Cache] decides which parts to read again and when, numbers
// snapshots, and confirms readings in the background. A [Source] reads the app.
//
// An app that has not run has not changed, see [Heartbeat]. An app that sends events is read only where
// these, see [DirtySet], and known gaps in them, see [Trust], require it. All other apps are read
// completely. The tables in lifetimes.go define the lifetimes.
//
// [Broadcaster] distributes an app's events, and [PasswordFields] remembers password fields, for every
// backend in the same way.
package treecache
