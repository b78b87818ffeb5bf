//go:build unix

package policy

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestStoreModes checks that only the owner can read the file.
func TestStoreModes(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	path := storePath(t)
	s := NewFileStore(path)
	for range 2 { // created, and replaced
		add(t, s, full())
		for name, want := range map[string]os.FileMode{path: 0o600, path + ".lock": 0o600, filepath.Dir(path): 0o700 | os.ModeDir} {
			info, err := os.Stat(name)
			assert.NilError(t, err)
			assert.Check(t, is.Equal(info.Mode(), want), name)
		}
	}
}

// TestStoreIsAPipe checks that a named pipe in the file's place does not block.
func TestStoreIsAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "consent.json")
	assert.NilError(t, syscall.Mkfifo(path, 0o600))
	_, err := NewFileStore(path).Grants()
	assert.Check(t, err != nil, "a pipe can be read")
}
