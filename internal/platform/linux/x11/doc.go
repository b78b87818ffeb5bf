// Package x11 does for X11 what a desktop must do besides the accessibility tree:
// it knows the windows, takes pictures of them, makes input, and reads and writes
// the clipboard.
//
// It speaks the X protocol itself, over a socket, in pure Go. Three things that
// the gateway promises need that: every method ends by the deadline of its
// context even if the X server stands still, no goroutine waits longer than its
// caller, and nothing that the server says ends the process. Requests are written
// many at once and answered in order, so a list of windows costs five round
// trips however many there are.
//
// A [Display] dials at its first use and again after the server was lost. It
// looks at the environment only through its [Config]. It touches the X server,
// shared memory that it makes itself, the cookie file that XAUTHORITY names, and
// /proc to learn whether a former gateway has died.
package x11
