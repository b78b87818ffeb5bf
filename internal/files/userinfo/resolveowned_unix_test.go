//go:build unix

package userinfo

import (
	"os"
	"path/filepath"
	"testing"
)

// TestResolveOwned: links of this account are followed, also to a missing file; links of another
// account are rejected.
func TestResolveOwned(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(root, name) }
	for _, folder := range []string{"real/deep", "theirs", "mine"} {
		if err := os.MkdirAll(at(folder), 0o775); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"real/deep/file", "mine/file"} {
		if err := os.WriteFile(at(file), nil, 0o664); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"folder": "real", "file": "folder/deep/file", "dangling": "nowhere", "a": "b", "b": "a", "theirs/link": "../mine/file", "through": "theirs/link",
	} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"real/deep/file": "real/deep/file", "folder/deep/file": "real/deep/file", "file": "real/deep/file",
		"folder/none": "real/none", "folder/none/at/all": "real/none/at/all", "dangling": "", "a": "", "mine/file/below": "",
	} {
		got, err := ResolveOwned(at(path))
		if want != "" && (got != at(want) || err != nil) || want == "" && err == nil {
			t.Errorf("%s: %s, %v; expected %s", path, got, err, want)
		}
	}
	if _, err := ResolveOwned("/etc/hostname"); (err == nil) != (os.Geteuid() == 0) {
		t.Errorf("root's file: %v", err)
	}
	if os.Geteuid() != 0 {
		return // nothing of another account's can be made
	}
	if err := os.Lchown(at("theirs/link"), 65534, 65534); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"theirs/link", "through"} {
		if got, err := ResolveOwned(at(path)); err == nil {
			t.Errorf("%s: by another's link to %s", path, got)
		}
	}
	for _, owned := range []string{"mine/file", "mine"} {
		if err := os.Chown(at(owned), 65534, 65534); err != nil {
			t.Fatal(err)
		}
		if got, err := ResolveOwned(at("mine/file")); err == nil {
			t.Errorf("%s is another's: %s", owned, got)
		}
		if err := os.Chown(at(owned), 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(at("mine"), 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if got, err := ResolveOwned(at("mine/none/at/all")); err == nil {
		t.Errorf("in another's folder: %s", got)
	}
}
