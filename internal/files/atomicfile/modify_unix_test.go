//go:build unix

package atomicfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

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
			assert.NilError(t, os.WriteFile(path, []byte("old"), 0o600))
			assert.NilError(t, os.Chmod(path, mode))
		}
		assert.NilError(t, atomicfile.Modify(path, []byte("new")))
		got, err := os.ReadFile(path)
		info, statErr := os.Stat(path)
		assert.NilError(t, err, "%v %q", mode, got)
		assert.NilError(t, statErr, "%v %q", mode, got)
		assert.Equal(t, string(got), "new", "%v %q", mode, got)
		assert.Equal(t, info.Mode(), want, "%v %q", mode, got)
	}
	if os.Geteuid() == 0 {
		assert.NilError(t, os.Chown(path, 1234, 2345))
		assert.NilError(t, atomicfile.Modify(path, []byte("newer")))
		var stat syscall.Stat_t
		err := syscall.Stat(path, &stat)
		assert.NilError(t, err, "%d %d", stat.Uid, stat.Gid)
		assert.Assert(t, stat.Uid == 1234, "it belongs to %d:%d, %v", stat.Uid, stat.Gid, err)
		assert.Assert(t, stat.Gid == 2345, "it belongs to %d:%d, %v", stat.Uid, stat.Gid, err)
	}
	link := filepath.Join(folder, "link")
	assert.NilError(t, os.Symlink(path, link))
	for _, other := range []string{link, folder} {
		assert.Check(t, atomicfile.Modify(other, nil) != nil, "%s was replaced", other)
	}
	entries, err := os.ReadDir(folder)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(entries, 2))
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
	_, statErr := os.Lstat(other)
	assert.NilError(t, err)
	assert.NilError(t, statErr)
}
