//go:build !unix

package userinfo

import (
	"errors"
	"io/fs"
	"os/user"
	"path/filepath"
	"strings"
)

// HomeDir returns the profile folder of the account.
func HomeDir() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.HomeDir
}

// SameDir reports whether both paths are equal, ignoring case.
func SameDir(a, b string) bool { return strings.EqualFold(a, b) }

// ReadRootOwned returns nil: it applies to Unix accounts.
func ReadRootOwned(string, int) ([]byte, error) { return nil, nil }

// CheckOwned returns nil: it applies to Unix modes.
func CheckOwned(string) error { return nil }

// CheckUserNamespace returns nil: there are no user namespaces here.
func CheckUserNamespace() error { return nil }

// CheckHome returns nil: it applies to Unix accounts.
func CheckHome(string) error { return nil }

// ResolveOwned returns the path of a file with links resolved. The system enforces ownership.
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
