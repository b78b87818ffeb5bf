// Package desktoptest is the suite that every backend passes: what the contract in
// internal/desktop says, tried on a program whose true state is known from another
// source. Only tests import it.
//
// The program has the controls, and tells the state, that are listed at Session.Fixture
// in internal/testkit/linuxtest/fixture_linux.go; fakedesktop's Fixture has them in memory.
// What a backend leaves nil is not tried. [Subject] says what of a program may be lacking:
// all the controls must be there, whatever they do.
// Nothing here measures time: what must happen is waited for, at most for
// Patience, and what must not hang is given as long.
//
// It imports the root, internal/desktop and its query, and reaches the screen through the
// backend alone.
package desktoptest
