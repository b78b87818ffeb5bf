//go:build benchmarks

package main

import (
	"os"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/policy/reauth"
)

// newHostAccess returns the host access for benchmarks: settings count as confirmed, and HOME is
// the account's home. No released program has this file.
func newHostAccess() hostAccess {
	return hostAccess{
		home:      func() string { return os.Getenv("HOME") },
		session:   func(getenv func(string) string) func(string) string { return getenv },
		confirmed: func(reauth.Setting) aai.Channel { return aai.DesktopDialog },
	}
}
