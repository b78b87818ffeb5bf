//go:build !unix

package account

import (
	"os/user"
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
