//go:build unix

package atomicfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// TestModify: mode and owner are kept, a new file belongs only to its owner, and other file types
// are not replaced.
func TestModify(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	for mode, want := range map[os.FileMode]os.FileMode{0: 0o600, 0o664: 0o664, 0o400: 0o400, 0o755: 0o755} {
		_ = os.Remove(path)
		if mode != 0 {
			if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
		}
		if err := atomicfile.Modify(path, []byte("new")); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		info, statErr := os.Stat(path)
		if err != nil || statErr != nil || string(got) != "new" || info.Mode() != want {
			t.Errorf("%v: %q, %v, %v, %v", mode, got, info.Mode(), err, statErr)
		}
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(path, 1234, 2345); err != nil {
			t.Fatal(err)
		}
		if err := atomicfile.Modify(path, []byte("newer")); err != nil {
			t.Fatal(err)
		}
		var stat syscall.Stat_t
		if err := syscall.Stat(path, &stat); err != nil || stat.Uid != 1234 || stat.Gid != 2345 {
			t.Errorf("it belongs to %d:%d, %v", stat.Uid, stat.Gid, err)
		}
	}
	link := filepath.Join(folder, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{link, folder} {
		if err := atomicfile.Modify(other, nil); err == nil {
			t.Errorf("%s was replaced", other)
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 2 {
		t.Errorf("there are %v, %v", entries, err)
	}
}

// TestWhatAnotherAccountLeft: another account's temporary file stays.
func TestWhatAnotherAccountLeft(t *testing.T) {
	if os.Geteuid() != 0 {
		return // only root can create files of another account
	}
	folder := t.TempDir()
	old := time.Now().Add(-time.Hour)
	other := filepath.Join(folder, ".file-1")
	err := errors.Join(os.WriteFile(other, nil, 0o600), os.Chown(other, 1234, 1234), os.Chtimes(other, old, old), atomicfile.ReplaceDurable(filepath.Join(folder, "file"), nil))
	if _, statErr := os.Lstat(other); err != nil || statErr != nil {
		t.Errorf("%v, %v", err, statErr)
	}
}
