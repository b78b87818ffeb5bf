//go:build unix

package policy

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
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
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode() != want {
				t.Errorf("%s has mode %s, expected %s", name, info.Mode(), want)
			}
		}
	}
}

// TestStoreIsAPipe checks that a named pipe in the file's place does not block.
func TestStoreIsAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "consent.json")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewFileStore(path).Grants(); err == nil {
		t.Error("a pipe can be read")
	}
}
