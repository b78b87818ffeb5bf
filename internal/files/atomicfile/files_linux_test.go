package atomicfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
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

// TestReadToolForm checks that other file types, too large files and, if links are not admitted, links
// are rejected without blocking.
func TestReadToolForm(t *testing.T) {
	folder := realFolder(t)
	pipe, file := filepath.Join(folder, "pipe"), filepath.Join(folder, "file")
	assert.NilError(t, syscall.Mkfifo(pipe, 0o600))
	assert.NilError(t, os.WriteFile(file, []byte("1234567"), 0o600))
	link := filepath.Join(folder, "link")
	assert.NilError(t, os.Symlink(file, link))
	for _, c := range []struct {
		path    string
		most    int
		noLinks bool
		want    string
		err     string
	}{
		{file, 7, false, "1234567", ""},
		{file, 7, true, "1234567", ""},
		{link, 7, false, "1234567", ""},
		{link, 7, true, "", "is a link, or in a folder that is one; expected the path of the file itself"},
		{file, 6, false, "", "expected at most 6 bytes"},
		{pipe, 7, false, "", "expected a regular file"},
		{pipe, 7, true, "", "expected a regular file"},
		{folder, 7, false, "", "expected a regular file"},
		{folder, 7, true, "", "expected a regular file"},
		{"/dev/zero", 7, false, "", "expected a regular file"},
		{file + "s", 7, false, "", "no such file or directory"},
		{file + "s", 7, true, "", "no such file or directory"},
	} {
		got, err := atomicfile.Read(c.path, atomicfile.ReadLimits{Size: c.most, NoLinks: c.noLinks})
		assert.Check(t, is.Equal(string(got), c.want), "%s %d %q %v", c.path, c.most, got, err)
		assert.Check(t, is.Equal((err == nil), (c.err == "")), "%s %d %q %v", c.path, c.most, got, err)
		assert.Check(t, err == nil || err.Error() == c.err && !strings.Contains(err.Error(), folder), "%s %d %q %v", c.path, c.most, got, err)
	}
}

// TestNoLinks checks that no exchange of a folder with a link makes a read follow the link.
func TestNoLinks(t *testing.T) {
	folder := realFolder(t)
	plain, link, hidden := filepath.Join(folder, "plain"), filepath.Join(folder, "link"), filepath.Join(folder, "hidden")
	for place, content := range map[string]string{plain: "own", hidden: "secret"} {
		assert.NilError(t, errors.Join(os.Mkdir(place, 0o700), os.WriteFile(filepath.Join(place, "f"), []byte(content), 0o600)))
	}
	assert.NilError(t, os.Symlink(hidden, link))
	limits := atomicfile.ReadLimits{Size: 100, NoLinks: true}
	got, err := atomicfile.Read(filepath.Join(plain, "f"), limits)
	assert.NilError(t, err, "%q", got)
	assert.Equal(t, string(got), "own", "%q", got)
	_, err = atomicfile.Read(filepath.Join(link, "f"), limits)
	assert.Assert(t, err != nil, "a link was followed")
	done := make(chan struct{})
	var other sync.WaitGroup
	other.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			if err := unix.Renameat2(unix.AT_FDCWD, plain, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE); err != nil {
				t.Error(err)
				return
			}
		}
	})
	read, refused := 0, 0
	for range 3000 {
		switch got, err := atomicfile.Read(filepath.Join(plain, "f"), limits); {
		case err != nil:
			refused++
		case string(got) != "own":
			t.Errorf("%q was read", got)
		default:
			read++
		}
	}
	close(done)
	other.Wait()
	t.Logf("%d reads, %d refusals", read, refused)
}

// realFolder returns a new folder by its path without links.
func realFolder(t *testing.T) string {
	t.Helper()
	folder, err := filepath.EvalSymlinks(t.TempDir())
	assert.NilError(t, err)
	return folder
}
