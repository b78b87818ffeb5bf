// Package x11 implements the parts of a desktop besides the accessibility tree for X11:
// windows, screenshots, input, and the clipboard.
//
// It speaks the X protocol over a socket, in pure Go. The gateway needs that for three
// promises: every method returns by its context's deadline even if the X server hangs, no
// goroutine waits longer than its caller, and no message of the server ends the process.
// Requests are sent in batches and answered in order, so a list of windows costs five
// round trips, however many windows there are.
//
// A [Display] connects at its first use, and again after the server was lost. It reads
// the environment only through its [Config]. It uses the X server, its own shared memory,
// and the cookie file that XAUTHORITY names, or ~/.Xauthority.
package x11
