package atomicfile_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// TestUpdateOfLinks: a link is read through and replaced, where it leads stays as it was;
// a link in the place of the lock is not followed.
func TestUpdateOfLinks(t *testing.T) {
	folder := t.TempDir()
	there, path := filepath.Join(folder, "there"), filepath.Join(folder, "link")
	assert.NilError(t, os.WriteFile(there, []byte("7"), 0o644))
	assert.NilError(t, os.Symlink(there, path))
	assert.NilError(t, add(t.Context(), path))
	if got, err := os.ReadFile(there); err != nil || string(got) != "7" {
		t.Errorf("where it led: %s, %v", got, err)
	}
	info, err := os.Lstat(path)
	assert.NilError(t, err, info)
	assert.Assert(t, info.Mode() == 0o600, info)
	got, err := os.ReadFile(path)
	assert.NilError(t, err, got)
	assert.Equal(t, string(got), "8", got)

	made := filepath.Join(folder, "made")
	assert.NilError(t, os.Symlink(made, there+".lock"))
	assert.Check(t, add(t.Context(), there) != nil, "the link was followed")
	_, err = os.Lstat(made)
	assert.Check(t, err != nil, "a file was made where the link leads")
}

// TestUpdateOfWhatIsNoFile: it is not waited for, and stays.
func TestUpdateOfWhatIsNoFile(t *testing.T) {
	folder := t.TempDir()
	pipe := filepath.Join(folder, "pipe")
	assert.NilError(t, syscall.Mkfifo(pipe, 0o600))
	err := add(t.Context(), pipe)
	assert.Assert(t, err != nil, err)
	assert.Equal(t, err.Error(), "expected a regular file", err)
	info, err := os.Lstat(pipe)
	assert.NilError(t, err, info)
	assert.Assert(t, !info.Mode().IsRegular(), info)
}

// TestPrivate: with Private, a file that others can read is rejected.
func TestPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	for mode, private := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: false, 0o604: false, 0o610: false} {
		_ = os.Remove(path) // it may be read-only
		assert.NilError(t, os.WriteFile(path, []byte("1"), mode))
		if err := os.Chmod(path, mode); err != nil { // whatever the umask
			t.Fatal(err)
		}
		limits := atomicfile.ReadLimits{Size: 10, Private: true}
		_, err := atomicfile.Read(path, limits)
		assert.Check(t, is.Equal((err == nil), private), "%v %v", mode, err)
		limits.Private = false
		_, err = atomicfile.Read(path, limits)
		assert.Check(t, err, "%v, where that does not matter: %v", mode, err)
	}
}

// TestLockThatIsAPipe: a pipe in place of a lock file does not block.
func TestLockThatIsAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kept")
	assert.NilError(t, syscall.Mkfifo(path+".lock", 0o600))
	_ = atomicfile.Update(t.Context(), path, atomicfile.ReadLimits{Size: 10}, func([]byte) ([]byte, error) { return []byte("x"), nil })
}
