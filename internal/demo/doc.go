// Package demo shows what the gateway is good for: an agent drives real apps in a desktop
// session that has nothing to do with the person's own, and the person is played. What
// they allow is allowed in the demo's home alone.
package demo

import (
	"context"
	"io"
)

// A Config says what is shown.
type Config struct {
	Version string
	// RunGateway runs a command of the gateway for the home, with the played person at its
	// terminal, and returns what it ended with. The environment is the session's by then.
	RunGateway func(ctx context.Context, h Home, in io.Reader, out, said io.Writer, args ...string) int
}

// A Home is where the gateways of a demo live.
type Home struct {
	Folder     string
	Passphrase string // of the played person
}
