// Package shottest makes snapshots for tests: of text that looks like an outline, at
// random, and of the windows of everyday programs. Only tests import it.
package snapshottest
