//go:build !unix

package account

import (
	"errors"
	"io/fs"
	"os/user"
	"path/filepath"
	"strings"
)

// Home is the profile folder of the account.
func Home() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.HomeDir
}

// SameFolder reports whether both paths are one, as the system compares them.
func SameFolder(a, b string) bool { return strings.EqualFold(a, b) }

// Root is for the accounts of Unix.
func Root(string, int) ([]byte, error) { return nil, nil }

// Mine is for the modes of Unix.
func Mine(string) error { return nil }

// WholeComputer knows of nothing here that would hide a screen.
func WholeComputer() error { return nil }

// CheckHome is for the accounts of Unix.
func CheckHome(string) error { return nil }

// Reach is where a file really is, links followed. Whose it is the system sees to.
func Reach(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	folder := filepath.Dir(path)
	if folder == path {
		return path, nil
	}
	if folder, err = Reach(folder); err != nil {
		return "", err
	}
	return filepath.Join(folder, filepath.Base(path)), nil
}
