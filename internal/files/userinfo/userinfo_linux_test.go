package userinfo

import (
	"os"
	"path/filepath"
	"testing"
)

const most = 1 << 20

// Root's file counts where root alone may have written it.
func TestRootsFile(t *testing.T) {
	if b, err := readRootOwned(filepath.Join(t.TempDir(), "none", "policy.json"), most); b != nil || err != nil {
		t.Errorf("one that is absent: %s, %v", b, err)
	}
	if b, err := readRootOwned("/etc/passwd", most); len(b) == 0 || err != nil {
		t.Errorf("one of root's: %s, %v", b, err)
	}
	if b, err := readRootOwned("/etc/passwd", 1); b != nil || err == nil {
		t.Errorf("one that is too long: %s, %v", b, err)
	}
	path := filepath.Join(t.TempDir(), "policy.json") // within /tmp, where all may write
	if err := os.WriteFile(path, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if b, err := readRootOwned(path, most); b != nil || err == nil {
		t.Errorf("one in a folder of all: %s, %v", b, err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if b, err := readRootOwned(link, most); b != nil || err == nil {
		t.Errorf("a link to it: %s, %v", b, err)
	}
}

// TestCheckOwned: a file that others can write is rejected; a missing one is accepted.
func TestCheckOwned(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := CheckOwned(path); err != nil {
		t.Errorf("one that is absent: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, mine := range map[os.FileMode]bool{0o600: true, 0o644: true, 0o664: false, 0o606: false} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if err := CheckOwned(path); (err == nil) != mine {
			t.Errorf("%04o: %v", mode, err)
		}
	}
}

// The home is the system's word and no variable's.
func TestHomeDir(t *testing.T) {
	was := HomeDir()
	t.Setenv("HOME", "/planted")
	t.Setenv("USER", "planted")
	if got := HomeDir(); got == "" || got != was {
		t.Errorf("%q, before %q", got, was)
	}
}
