package atomicfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

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

// TestNoLinksToOthers checks that other kinds of files are rejected without blocking.
func TestNoLinksToOthers(t *testing.T) {
	folder := realFolder(t)
	pipe, link := filepath.Join(folder, "pipe"), filepath.Join(folder, "link")
	assert.NilError(t, errors.Join(syscall.Mkfifo(pipe, 0o600), os.Symlink(pipe, link)))
	for path, want := range map[string]string{
		pipe: "expected a regular file", folder: "expected a regular file", pipe + "s": "no such file or directory",
		link: "is a link, or in a folder that is one; expected the path of the file itself",
	} {
		_, err := atomicfile.Read(path, atomicfile.ReadLimits{Size: 10, NoLinks: true})
		assert.Assert(t, err != nil, "%s %v", path, err)
		assert.Equal(t, err.Error(), want, "%s %v", path, err)
	}
}

// realFolder returns a new folder by its path without links.
func realFolder(t *testing.T) string {
	t.Helper()
	folder, err := filepath.EvalSymlinks(t.TempDir())
	assert.NilError(t, err)
	return folder
}
