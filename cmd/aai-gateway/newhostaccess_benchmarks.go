//go:build benchmarks

package main

import (
	"os"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/policy/reauth"
)

// newHostAccess is what the program of the benchmarks stands on: its settings count as confirmed,
// and whatever HOME says as the account's home. No program for people has this file.
func newHostAccess() hostAccess {
	return hostAccess{
		home:      func() string { return os.Getenv("HOME") },
		session:   func(getenv func(string) string) func(string) string { return getenv },
		confirmed: func(reauth.Setting) aai.Channel { return aai.DesktopDialog },
	}
}
