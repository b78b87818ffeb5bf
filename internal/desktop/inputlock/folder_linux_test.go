package inputlock

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The folder belongs to the account, and does not depend on the environment.
func TestFolder(t *testing.T) {
	usual, err := Folder()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"HOME", "XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_STATE_HOME", "TMPDIR", "USER"} {
		t.Setenv(name, t.TempDir())
	}
	if folder, err := Folder(); err != nil || folder != usual || !strings.Contains(folder, strconv.Itoa(os.Getuid())) {
		t.Errorf("%s, %v; it was %s", folder, err, usual)
	}
}

// A folder of another account, one open to others, or a link to one is an error with its name.
func TestFoldersOfOthers(t *testing.T) {
	dir := t.TempDir()
	file, link, open, mine := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "open"), filepath.Join(dir, "mine")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{open, mine} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(open, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(mine, link); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{file, link, open, filepath.Join(dir, "none")} {
		if err := private(folder, os.Getuid()); err == nil || !strings.Contains(err.Error(), folder) {
			t.Errorf("%s: %v", folder, err)
		}
	}
	if err := private(mine, os.Getuid()+1); err == nil {
		t.Error("another's folder is taken")
	}
	if err := private(mine, os.Getuid()); err != nil {
		t.Error(err)
	}
}
