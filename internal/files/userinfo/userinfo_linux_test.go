package userinfo

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

const most = 1 << 20

// Root's file counts where root alone may have written it.
func TestRootsFile(t *testing.T) {
	b, err := readRootOwned(filepath.Join(t.TempDir(), "none", "policy.json"), most)
	assert.Assert(t, b == nil, "one that is absent: %s, %v", b, err)
	assert.NilError(t, err, b)
	b, err = readRootOwned("/etc/passwd", most)
	assert.Assert(t, len(b) != 0, "one of root's: %s, %v", b, err)
	assert.NilError(t, err, b)
	b, err = readRootOwned("/etc/passwd", 1)
	assert.Assert(t, b == nil, "one that is too long: %s, %v", b, err)
	assert.Assert(t, err != nil, "one that is too long: %s, %v", b, err)
	path := filepath.Join(t.TempDir(), "policy.json") // within /tmp, where all may write
	assert.NilError(t, os.WriteFile(path, []byte("{}"), 0o644))
	b, err = readRootOwned(path, most)
	assert.Assert(t, b == nil, "one in a folder of all: %s, %v", b, err)
	assert.Assert(t, err != nil, "one in a folder of all: %s, %v", b, err)
	link := filepath.Join(t.TempDir(), "link")
	assert.NilError(t, os.Symlink(path, link))
	b, err = readRootOwned(link, most)
	assert.Assert(t, b == nil, "a link to it: %s, %v", b, err)
	assert.Assert(t, err != nil, "a link to it: %s, %v", b, err)
}

// TestCheckOwned: a file that others can write is rejected; a missing one is accepted.
func TestCheckOwned(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	err := CheckOwned(path)
	assert.Check(t, err, "one that is absent: %v", err)
	assert.NilError(t, os.WriteFile(path, nil, 0o600))
	for mode, mine := range map[os.FileMode]bool{0o600: true, 0o644: true, 0o664: false, 0o606: false} {
		assert.NilError(t, os.Chmod(path, mode))
		err := CheckOwned(path)
		assert.Check(t, is.Equal((err == nil), mine), "%04o %v", mode, err)
	}
}

// The home is the system's word and no variable's.
func TestHomeDir(t *testing.T) {
	was := HomeDir()
	t.Setenv("HOME", "/planted")
	t.Setenv("USER", "planted")
	got := HomeDir()
	assert.Check(t, got != "", "%q, before %q", got, was)
	assert.Check(t, is.Equal(got, was))
}
