package inputlock

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// The folder belongs to the account, and does not depend on the environment.
func TestFolder(t *testing.T) {
	usual, err := Folder()
	assert.NilError(t, err)
	for _, name := range []string{"HOME", "XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_STATE_HOME", "TMPDIR", "USER"} {
		t.Setenv(name, t.TempDir())
	}
	folder, err := Folder()
	assert.NilError(t, err)
	assert.Equal(t, folder, usual)
	assert.Assert(t, is.Contains(folder, strconv.Itoa(os.Getuid())))
}

// A folder of another account, one open to others, or a link to one is an error with its name.
func TestFoldersOfOthers(t *testing.T) {
	dir := t.TempDir()
	file, link, open, mine := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "open"), filepath.Join(dir, "mine")
	assert.NilError(t, os.WriteFile(file, nil, 0o600))
	for _, folder := range []string{open, mine} {
		assert.NilError(t, os.Mkdir(folder, 0o700))
	}
	assert.NilError(t, os.Chmod(open, 0o750))
	assert.NilError(t, os.Symlink(mine, link))
	for _, folder := range []string{file, link, open, filepath.Join(dir, "none")} {
		err := private(folder, os.Getuid())
		assert.Check(t, is.ErrorContains(err, folder))
	}
	assert.Check(t, private(mine, os.Getuid()+1) != nil, "another's folder is taken")
	assert.Check(t, private(mine, os.Getuid()))
}
