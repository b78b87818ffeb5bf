// Package script lets a caller make many calls in one: a JavaScript that calls tools, looks
// at what they answer, and returns what its caller wants of it. It can do nothing but make
// calls, each of which passes the gateway as one of its caller; so nobody is asked about the
// script itself. It runs in a process of its own, package child, which is ended when the
// script is, or at its deadline, or when it has more memory than it may, or when its caller
// or the gateway is gone.
package script
