//go:build unix

package catalog

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestFilesThatAreNoFiles checks that a file that is not readable or not regular is reported,
// hides nothing and does not block.
func TestFilesThatAreNoFiles(t *testing.T) {
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	must := func(err error) {
		t.Helper()
		assert.NilError(t, err)
	}
	write(t, at("good.json"), linuxApp("org.good", "Good", ""))
	must(syscall.Mkfifo(at("fifo.json"), 0o600))
	must(os.Mkdir(at("folder.json"), 0o700))
	must(os.Symlink("/dev/zero", at("device.json")))
	must(os.Symlink(at("fifo.json"), at("tofifo.json")))
	must(os.Symlink(at("loop.json"), at("loop.json")))
	must(os.Symlink(at("nothing"), at("dangling.json")))
	write(t, filepath.Join(root, "elsewhere", "linked"), linuxApp("org.linked", "Linked", ""))
	must(os.Symlink(filepath.Join(root, "elsewhere", "linked"), at("link.json")))
	write(t, at("large.json"), strings.Repeat(" ", maxBytes+1))
	write(t, at("full.json"), linuxApp("org.full", "Full", "")+strings.Repeat(" ", maxBytes-len(linuxApp("org.full", "Full", ""))))

	c := newCatalog(Files(root, "*.json"))
	assert.Check(t, is.Equal(ids(c.Apps()), "aai desktop org.full org.good org.linked"))
	got := reports(t, c)
	for name, want := range map[string]string{
		"fifo.json":     "is no regular file (p---------); expected one",
		"tofifo.json":   "is no regular file (p---------); expected one",
		"device.json":   "is no regular file (Dc---------); expected one",
		"folder.json":   "is a folder; expected a regular file",
		"loop.json":     "cannot be read: too many levels of symbolic links",
		"dangling.json": "cannot be read: no such file or directory",
		"large.json":    "is 8388609 bytes or more; expected at most 8388608",
	} {
		e := got[name].Errors
		assert.Equal(t, got[name].Status, StatusInvalid, "%s %+v", name, got[name])
		assert.Assert(t, is.Len(e, 1), "%s %+v", name, got[name])
		assert.Equal(t, e[0].String(), want, "%s %+v", name, got[name])
	}
}

// TestLinkedFolder checks that a folder of a descriptor may be a link.
func TestLinkedFolder(t *testing.T) {
	root, elsewhere := t.TempDir(), t.TempDir()
	write(t, filepath.Join(elsewhere, FileName), linuxApp("org.linked", "Linked", ""))
	assert.NilError(t, os.Symlink(elsewhere, filepath.Join(root, "org.linked")))
	assert.Check(t, is.Equal(ids(newCatalog(Folders(root)).Apps()), "aai desktop org.linked"))
}

// TestOpeningDoesNotBlock checks that a FIFO that replaces a file between stat and open does not
// block.
func TestOpeningDoesNotBlock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "fifo")
	assert.NilError(t, syscall.Mkfifo(name, 0o600))
	file, err := os.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	assert.NilError(t, err)
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	assert.NilError(t, err, info)
	assert.Assert(t, checkRegular(info) != nil, info)
}

func TestUnreadableFile(t *testing.T) {
	if os.Getuid() == 0 {
		// Root can read any file, so this failure cannot be produced; the handling of the error
		// is tested without it.
		assert.Check(t, is.Equal(reason(&os.PathError{Op: "open", Path: "/x", Err: syscall.EACCES}), "permission denied"))
		return
	}
	name := filepath.Join(t.TempDir(), "x.json")
	write(t, name, "{}")
	assert.NilError(t, os.Chmod(name, 0))
	_, _, err := readRegular(name)
	assert.Check(t, is.ErrorContains(err, "cannot be read: permission denied"))
}
