//go:build unix

package clients_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/clients"
)

// TestLinksOfTheirOwner checks that links to dotfiles are followed; links, modes and owners stay.
func TestLinksOfTheirOwner(t *testing.T) {
	w := newWorld(t, "linux", nil)
	const text = "{\n  \"a\": 1\n}\n"
	real := w.file("dotfiles/cursor.json", text)
	assert.NilError(t, os.Chmod(real, 0o664))
	w.file(".cursor/other", "")
	assert.NilError(t, os.Symlink("../dotfiles/cursor.json", filepath.Join(w.home, cursor)))
	p := w.plan(w.room.Install("cursor", serve()))
	assert.Assert(t, is.Len(p.Notes, 1))
	assert.Assert(t, is.Contains(p.Notes[0], "leads to "+real))
	w.do(clients.ActionAdd)(p, nil)
	if to, err := os.Readlink(filepath.Join(w.home, cursor)); err != nil || to != "../dotfiles/cursor.json" {
		t.Errorf("the link: %q, %v", to, err)
	}
	info, err := os.Stat(real)
	assert.NilError(t, err, info)
	assert.Assert(t, info.Mode() == 0o664, info)
	assert.Assert(t, is.Contains(w.has("dotfiles/cursor.json"), "aai-gateway"), info)
	w.do(clients.ActionRestore)(w.room.Uninstall("cursor"))
	w.is("dotfiles/cursor.json", text)
}

// TestLinksOfOthers checks that links of another account are neither read nor written.
func TestLinksOfOthers(t *testing.T) {
	const other = 65534
	if os.Geteuid() != 0 {
		t.Log("only root can make what belongs to another account: what is not tried is root's own file")
	}
	for name, plant := range map[string]func(w *world) error{
		"a link to another's file": func(w *world) error {
			theirs := w.file("theirs.json", "{}")
			if err := os.Symlink(theirs, filepath.Join(w.home, cursor)); err != nil || os.Geteuid() != 0 {
				return err
			}
			return os.Chown(theirs, other, other)
		},
		"another's link to a file of ours": func(w *world) error {
			link := filepath.Join(w.home, cursor)
			if err := os.Symlink(w.file("ours.json", "{}"), link); err != nil || os.Geteuid() != 0 {
				return err
			}
			return os.Lchown(link, other, other)
		},
		"a link to another's folder": func(w *world) error {
			theirs := filepath.Dir(w.file("theirs/mcp.json", "{}"))
			if err := os.Remove(filepath.Join(w.home, ".cursor")); err != nil {
				return err
			}
			if err := os.Symlink(theirs, filepath.Join(w.home, ".cursor")); err != nil || os.Geteuid() != 0 {
				return err
			}
			return os.Chown(theirs, other, other)
		},
		"another's file": func(w *world) error {
			if os.Geteuid() != 0 {
				return os.Symlink("/etc/hostname", filepath.Join(w.home, cursor))
			}
			return os.Chown(w.file(cursor, "{}"), other, other)
		},
		"another's folder, without a file": func(w *world) error {
			if os.Geteuid() != 0 {
				return os.Symlink("/etc/none", filepath.Join(w.home, cursor))
			}
			return os.Chown(filepath.Join(w.home, ".cursor"), other, other)
		},
		"a link to nowhere": func(w *world) error { return os.Symlink("/nowhere/file", filepath.Join(w.home, cursor)) },
		"a link to itself":  func(w *world) error { return os.Symlink("mcp.json", filepath.Join(w.home, cursor)) },
		"a pipe":            func(w *world) error { return syscall.Mkfifo(filepath.Join(w.home, cursor), 0o600) },
		"a folder":          func(w *world) error { return os.Mkdir(filepath.Join(w.home, cursor), 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "linux", nil)
			assert.NilError(t, os.MkdirAll(filepath.Join(w.home, ".cursor"), 0o700))
			assert.NilError(t, plant(w))
			p, err := w.room.Install("cursor", serve())
			if os.Geteuid() != 0 && err == nil && strings.Contains(name, "nother's") && name != "another's file" {
				return // it is this user's
			}
			if err == nil {
				t.Fatalf("it would %s %s", p.Action, p.Client.File)
			}
			assert.Check(t, name != "a link to nowhere" || strings.Contains(err.Error(), "is a link that leads nowhere"), "it says %v", err)
			assert.Check(t, strings.Contains(err.Error(), cursor) || strings.Contains(err.Error(), w.home), "the file is not named: %v", err)
		})
	}
}
