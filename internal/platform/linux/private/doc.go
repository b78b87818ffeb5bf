// Package private runs a desktop session that is separate from the person's own: a home, a
// screen (Xvfb), a window manager (openbox), and programs. The demo and the tests use one.
// On systems other than Linux the package is empty.
//
// It uses a temporary folder and its own processes. Nothing ends automatically: the
// creator of a [Session] must call End and Remove.
package private
