// Package linuxtest runs a private desktop for tests: a separate screen (Xvfb), a session bus, a window
// manager, and windows of real toolkits. Only tests and benchmarks import it; it is empty on systems other
// than Linux.
//
// It uses only its own temporary folders and processes, never the screen, the bus or the home of the
// person. All its processes end with the test, even if the test itself is killed.
//
// The windows are fixtures: small programs that have one control of every kind, the same in every toolkit,
// and write their true state to a file. A test acts through the code under test, and reads the real effect
// from Fixture.State.
package linuxtest
