package private

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestOtherAccountsFoldersAreRefused checks that a folder that another account can change is no folder of sessions.
func TestOtherAccountsFoldersAreRefused(t *testing.T) {
	own, open, link, file := filepath.Join(t.TempDir(), "own"), filepath.Join(t.TempDir(), "open"), filepath.Join(t.TempDir(), "link"), filepath.Join(t.TempDir(), "file")
	assert.NilError(t, os.Mkdir(own, 0o700))
	assert.NilError(t, os.Mkdir(open, 0o700))
	assert.NilError(t, os.Chmod(open, 0o770))
	assert.NilError(t, os.Symlink(own, link))
	assert.NilError(t, os.WriteFile(file, nil, 0o600))
	assert.NilError(t, checkOwn(own))
	for _, folder := range []string{open, link, file, filepath.Join(own, "none")} {
		assert.Check(t, checkOwn(folder) != nil, folder)
		_, err := OpenIsolated(folder)
		assert.Check(t, err != nil, folder)
	}
	if os.Geteuid() == 0 {
		assert.NilError(t, os.Chown(own, 65534, 65534))
		assert.Check(t, checkOwn(own) != nil)
	}
}

// TestFinishKeepsWhatItCan checks that files which programs made unreadable are kept, that names are shown on one line,
// that no link in the folder of kept files is followed, and that a session stays while a file is not kept.
func TestFinishKeepsWhatItCan(t *testing.T) {
	source, keep, foreign := t.TempDir(), filepath.Join(t.TempDir(), "keep"), t.TempDir()
	assert.NilError(t, os.Mkdir(keep, 0o700))
	i, err := NewIsolated(Options{Views: []View{{Source: source, Place: "work"}}, Keep: keep})
	assert.NilError(t, err)
	defer i.LockFile().Close() //nolint:errcheck // only its lock counts
	upper := i.viewFolder(0, "upper")
	assert.NilError(t, os.MkdirAll(upper, 0o700))
	for name, mode := range map[string]os.FileMode{"a": 0o600, "closed": 0, "b\x1b[2K\nforged": 0o600} {
		assert.NilError(t, os.WriteFile(filepath.Join(upper, name), []byte(name), mode))
	}
	assert.NilError(t, os.Symlink(foreign, filepath.Join(keep, "work")))
	assert.Check(t, is.ErrorContains(i.Finish(), "~/work/a"))
	left, err := os.ReadDir(foreign)
	assert.NilError(t, err)
	assert.Check(t, is.Len(left, 0), "a link was followed")
	assert.NilError(t, os.Remove(filepath.Join(keep, "work")))
	assert.NilError(t, i.Finish())
	for _, name := range []string{"a", "closed"} {
		text, err := os.ReadFile(filepath.Join(keep, "work", name))
		assert.NilError(t, err)
		assert.Check(t, is.Equal(string(text), name))
	}
	assert.Check(t, is.Contains(i.Report(), "3 files changed"))
	assert.Check(t, !strings.Contains(i.Report(), "\x1b"), i.Report())
	_, err = os.Lstat(i.Folder)
	assert.Check(t, os.IsNotExist(err))
}

// TestHugeScreenIsRefused checks that a program of the session cannot fill the memory of the process that shows its screen.
func TestHugeScreenIsRefused(t *testing.T) {
	i, err := NewIsolated(Options{Width: 300, Height: 200})
	assert.NilError(t, err)
	defer i.LockFile().Close() //nolint:errcheck // only its lock counts
	defer func() { assert.Check(t, i.Finish()) }()
	assert.NilError(t, os.WriteFile(sessionIn(i.Folder).FramebufferFile(), nil, 0o600))
	assert.NilError(t, os.Truncate(sessionIn(i.Folder).FramebufferFile(), 1<<40))
	_, err = i.Screen()
	assert.Check(t, is.ErrorContains(err, "cannot be read"))
}
