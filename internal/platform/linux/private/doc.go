// Package private runs a desktop session that is separate from the person's own: a home, a
// screen (Xvfb), a window manager (openbox), and programs. The demo and the tests use one, and
// an agent gets one as its isolated session.
// On systems other than Linux the package is empty.
//
// It uses a temporary folder and its own processes. Nothing ends automatically: the
// creator of a [Session] must call End and Remove. An [Isolated] session can be finished by
// another process if its creator is killed.
package private
