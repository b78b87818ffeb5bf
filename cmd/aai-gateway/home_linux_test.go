package main

import (
	"os"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/cli"
)

// Another account's home is rejected before anything is created in it.
func TestHomeOfAnother(t *testing.T) {
	own, others := t.TempDir(), "/"
	if os.Geteuid() == 0 {
		others = t.TempDir()
		assert.NilError(t, os.Chown(others, 65534, 65534))
	}
	p := &program{getenv: os.Getenv, err: os.Stderr, hostAccess: testHost(os.Getenv)}
	for _, home := range []string{own, own + "/none"} {
		t.Setenv("HOME", home)
		_, err := p.config(cli.Flags{})
		assert.Check(t, err, home)
	}
	before, err := os.ReadDir(others)
	assert.NilError(t, err)
	t.Setenv("HOME", others)
	_, _, err = p.open(cli.Flags{})
	assert.Assert(t, is.ErrorContains(err, "the home folder "+others+" belongs to "))
	assert.Assert(t, is.Contains(aai.AsError(err).Hint, "set HOME"))
	after, _ := os.ReadDir(others)
	assert.Check(t, is.Len(after, len(before)), "%d entries are new", len(after)-len(before))
}

// The root of the file system is no valid home, regardless of its owner.
func TestHomeThatIsAll(t *testing.T) {
	p := &program{getenv: os.Getenv, err: os.Stderr, hostAccess: testHost(os.Getenv)}
	for _, home := range []string{"/", "//", "/./"} {
		t.Setenv("HOME", home)
		_, err := p.config(cli.Flags{})
		assert.Assert(t, is.ErrorContains(err, "the home folder is /"), home)
		assert.Assert(t, is.Contains(aai.AsError(err).Hint, "Set HOME"), home)
	}
}
