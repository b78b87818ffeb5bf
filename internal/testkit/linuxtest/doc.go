// Package linuxtest runs a private desktop: a screen of its own (Xvfb), a session
// bus, a window manager, and windows of real toolkits on it. Only tests and
// benchmarks import it; it is empty on other systems than Linux.
//
// It touches temporary folders and processes of its own, and never the screen, the
// bus or the home of the person at this computer. Whatever it started ends with
// the test, and also when the test itself is killed.
//
// The windows are fixtures: small programs that have one control of every kind,
// the same in every toolkit, and that keep their own true state in a file. A test
// acts through the code under test, and reads in Fixture.State what really
// happened.
package linuxtest
