// Package fakedesktop is a desktop in memory: programs with windows, and elements
// in them that behave as those of toolkits do. Only tests import it. It passes
// the same suite as the real backends, internal/desktop/desktoptest.
//
// A test builds the programs, calls what it tests with Desktop.Backend, and looks
// at the elements, at Desktop.Deeds and at Desktop.Person for what really
// happened. Programs can hang, end, render a list anew, use elements again for
// others, do nothing while they are covered, and act late. Nothing in it waits for
// real time, except where a test asks for it with Program.After, so that it can run
// in a bubble of testing/synctest.
//
// It imports the root and internal/desktop, and touches nothing outside of itself.
package fakedesktop
