// Package snapshottest creates snapshots for tests: from text in outline form, at random, and of windows of
// common programs. Only tests import it.
package snapshottest
