// Package desktoptest is the test suite for every implementation of the interfaces in internal/desktop. It
// runs a backend on a program and verifies the effects through an independent source of the program's
// state. Only tests import it.
//
// The program has the controls and the state listed at Session.Fixture in
// internal/testkit/linuxtest/fixture_linux.go; fakedesktop's Fixture has them in memory. The suite skips
// nil fields of the backend. [Subject] lists the features that a program may lack: all controls must exist,
// even without function. The suite measures no time: it waits at most Patience for each expected event.
//
// It imports the root, internal/desktop and its query, and reaches the screen only through the backend.
package desktoptest
