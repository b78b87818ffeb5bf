package testkit

import (
	"os/exec"
	"testing"
)

// Need fails the test if a program is not installed, see [Installed].
func Need(t testing.TB, program string) {
	t.Helper()
	_, err := exec.LookPath(program)
	Installed(t, err == nil, "install "+program)
}

// Installed fails the test if what it needs is not there; the hint says how to install it. With -short it skips the
// test: `make quick` runs where only Go and git are installed.
func Installed(t testing.TB, there bool, hint string) {
	t.Helper()
	switch {
	case there:
	case testing.Short():
		t.Skip(hint)
	default:
		t.Fatalf("%s (make test does)", hint)
	}
}
