//go:build !unix

package userinfo

import (
	"errors"
	"io/fs"
	"os/user"
	"path/filepath"
	"strings"
)

// HomeDir is the profile folder of the account.
func HomeDir() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.HomeDir
}

// SameDir reports whether both paths are one, as the system compares them.
func SameDir(a, b string) bool { return strings.EqualFold(a, b) }

// ReadRootOwned is for the accounts of Unix.
func ReadRootOwned(string, int) ([]byte, error) { return nil, nil }

// CheckOwned is for the modes of Unix.
func CheckOwned(string) error { return nil }

// CheckUserNamespace knows of nothing here that would hide a screen.
func CheckUserNamespace() error { return nil }

// CheckHome is for the accounts of Unix.
func CheckHome(string) error { return nil }

// ResolveOwned is where a file really is, links followed. Whose it is the system sees to.
func ResolveOwned(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	folder := filepath.Dir(path)
	if folder == path {
		return path, nil
	}
	if folder, err = ResolveOwned(folder); err != nil {
		return "", err
	}
	return filepath.Join(folder, filepath.Base(path)), nil
}
