// Package demo demonstrates the gateway: an agent operates real apps in a private desktop session,
// and a simulated user answers questions. Their consents apply only in the demo's home.
package demo

import (
	"context"
	"io"
)

// Config configures the demo.
type Config struct {
	Version string
	// RunGateway runs a command of the gateway for the home, with the simulated user at its
	// terminal, and returns the exit code. The environment is then the session's.
	RunGateway func(ctx context.Context, h Home, in io.Reader, out, said io.Writer, args ...string) int
}

// Home is the temporary home folder of the demo's gateways.
type Home struct {
	Folder     string
	Passphrase string // of the simulated user
}
