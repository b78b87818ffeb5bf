package linuxtest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// AsNobody returns the attributes with which another account runs the test program, if this one is root: Sway refuses
// root. The other account gets the folders, and can reach the program.
func AsNobody(t testing.TB, folders ...string) *syscall.SysProcAttr {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append([]string{self}, folders...) {
		for dir := filepath.Dir(path); len(dir) > len("/tmp"); dir = filepath.Dir(dir) {
			info, err := os.Stat(dir)
			if err == nil {
				err = os.Chmod(dir, info.Mode()|0o011)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, folder := range folders {
		if err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(path, swayUser, swayUser)) //nolint:gosec // a folder of the test alone
		}); err != nil {
			t.Fatal(err)
		}
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: swayUser, Gid: swayUser}}
}
