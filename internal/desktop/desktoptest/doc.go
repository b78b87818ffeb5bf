// Package desktoptest is the suite that every backend passes: what the contract in
// internal/desktop says, tried on a program whose true state is known from another
// source. Only tests import it.
//
// The program has the controls of the fixtures in internal/desktop/linuxtest.
// Nothing here measures time: what must happen is waited for, at most for
// Patience, and what must not hang is given as long.
//
// It imports the root and internal/desktop, and reaches the screen through the
// backend alone.
package desktoptest
