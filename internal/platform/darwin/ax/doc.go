// Package ax reads and operates the programs of macOS as trees of elements, by the accessibility API: it implements desktop.Tree,
// desktop.Actor and desktop.Events.
//
// A snapshot walks the windows of an app and its menu bar. Each element costs one request for many attributes, one for its actions, and
// fields and numbers one for their value; the value of a password field is never requested. The ID of an element has a number from a table
// that retains the element, since the system has no lasting IDs. A worker runs the calls of one app, one at a time, and abandons a call
// at its deadline.
//
// Coordinates are points, as the system counts them, and not pixels.
//
// No Mac has run this code. The tests run it on Linux against a double in C, see testdata/axdouble.c.
package ax
