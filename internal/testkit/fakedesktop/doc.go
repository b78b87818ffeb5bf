// Package fakedesktop implements a desktop in memory for tests: programs with windows, and elements that
// behave as those of toolkits do. Only tests import it. It passes the same suite as the real backends,
// internal/desktop/desktoptest.
//
// A test creates the programs, runs the code under test with Desktop.Backend, and checks the effects in the
// elements, Desktop.Actions and Desktop.Person. Programs can hang, end, rerender a list, recycle elements,
// pause while covered, and react late. Only Program.After and a drag wait for time to pass, so tests can
// run in a bubble of testing/synctest.
//
// It imports the root and internal/desktop with its treecache, and uses no outside resources.
package fakedesktop
