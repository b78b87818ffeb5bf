//go:build unix

package catalog

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFilesThatAreNoFiles checks that a file that is not readable or not regular is reported,
// hides nothing and does not block.
func TestFilesThatAreNoFiles(t *testing.T) {
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
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
	if got := ids(c.Apps()); got != "aai desktop org.full org.good org.linked" {
		t.Errorf("apps: %s", got)
	}
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
		if e := got[name].Errors; got[name].Status != StatusInvalid || len(e) != 1 || e[0].String() != want {
			t.Errorf("%s: %+v", name, got[name])
		}
	}
}

// TestLinkedFolder checks that a folder of a descriptor may be a link.
func TestLinkedFolder(t *testing.T) {
	root, elsewhere := t.TempDir(), t.TempDir()
	write(t, filepath.Join(elsewhere, FileName), linuxApp("org.linked", "Linked", ""))
	if err := os.Symlink(elsewhere, filepath.Join(root, "org.linked")); err != nil {
		t.Fatal(err)
	}
	if got := ids(newCatalog(Folders(root)).Apps()); got != "aai desktop org.linked" {
		t.Errorf("apps: %s", got)
	}
}

// TestOpeningDoesNotBlock checks that a FIFO that replaces a file between stat and open does not
// block.
func TestOpeningDoesNotBlock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil || checkRegular(info) == nil {
		t.Errorf("%v, %v", info, err)
	}
}

func TestUnreadableFile(t *testing.T) {
	if os.Getuid() == 0 {
		// Root can read any file, so this failure cannot be produced; the handling of the error
		// is tested without it.
		if got := reason(&os.PathError{Op: "open", Path: "/x", Err: syscall.EACCES}); got != "permission denied" {
			t.Errorf("reason: %s", got)
		}
		return
	}
	name := filepath.Join(t.TempDir(), "x.json")
	write(t, name, "{}")
	if err := os.Chmod(name, 0); err != nil {
		t.Fatal(err)
	}
	if _, _, err := readRegular(name); err == nil || !strings.Contains(err.Error(), "cannot be read: permission denied") {
		t.Errorf("error = %v", err)
	}
}
