//go:build unix

package userinfo

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestResolveOwned: links of this account are followed, also to a missing file; links of another
// account are rejected.
func TestResolveOwned(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	assert.NilError(t, err)
	at := func(name string) string { return filepath.Join(root, name) }
	for _, folder := range []string{"real/deep", "theirs", "mine"} {
		assert.NilError(t, os.MkdirAll(at(folder), 0o775))
	}
	for _, file := range []string{"real/deep/file", "mine/file"} {
		assert.NilError(t, os.WriteFile(at(file), nil, 0o664))
	}
	for link, to := range map[string]string{
		"folder": "real", "file": "folder/deep/file", "dangling": "nowhere", "a": "b", "b": "a", "theirs/link": "../mine/file", "through": "theirs/link",
	} {
		assert.NilError(t, os.Symlink(to, at(link)))
	}
	for path, want := range map[string]string{
		"real/deep/file": "real/deep/file", "folder/deep/file": "real/deep/file", "file": "real/deep/file",
		"folder/none": "real/none", "folder/none/at/all": "real/none/at/all", "dangling": "", "a": "", "mine/file/below": "",
	} {
		got, err := ResolveOwned(at(path))
		assert.Check(t, want == "" || got == at(want) && err == nil, "%s %s %v %s", path, got, err, want)
		assert.Check(t, want != "" || err != nil, "%s %s %v %s", path, got, err, want)
	}
	_, err = ResolveOwned("/etc/hostname")
	assert.Check(t, is.Equal((err == nil), (os.Geteuid() == 0)), "root's file: %v", err)
	if os.Geteuid() != 0 {
		return // nothing of another account's can be made
	}
	assert.NilError(t, os.Lchown(at("theirs/link"), 65534, 65534))
	for _, path := range []string{"theirs/link", "through"} {
		got, err := ResolveOwned(at(path))
		assert.Check(t, err != nil, "%s: by another's link to %s", path, got)
	}
	for _, owned := range []string{"mine/file", "mine"} {
		assert.NilError(t, os.Chown(at(owned), 65534, 65534))
		got, err := ResolveOwned(at("mine/file"))
		assert.Check(t, err != nil, "%s is another's: %s", owned, got)
		assert.NilError(t, os.Chown(at(owned), 0, 0))
	}
	assert.NilError(t, os.Chown(at("mine"), 65534, 65534))
	got, err := ResolveOwned(at("mine/none/at/all"))
	assert.Check(t, err != nil, "in another's folder: %s", got)
}
