//go:build !unix

package main

import (
	"os/user"
	"strings"
)

// accountHome is the profile folder of the account.
func accountHome() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.HomeDir
}

func sameFolder(a, b string) bool { return strings.EqualFold(a, b) }

// rootsPolicy is for the accounts of Unix.
func rootsPolicy() ([]byte, error) { return nil, nil }

// onlyMine is for the modes of Unix.
func onlyMine(string) error { return nil }

// wholeComputer knows of nothing here that would hide a screen.
func wholeComputer() error { return nil }
