package main

import (
	"context"

	"aai"
	"aai/internal/dialog"
	"aai/internal/proof"
)

// A prover is who may prove that it is they who want something of the gateway.
type prover struct {
	dialog     *dialog.Dialog // nil: no window may be shown
	screen     askedScreen
	passphrase *proof.Passphrase
}

// Way implements policy.Person. A screen that the environment alone names may be anybody's
// making, so that who set a passphrase is asked for that.
func (p prover) Way(ctx context.Context) aai.Channel {
	window := p.dialog != nil && p.dialog.Ready(ctx) == nil
	switch {
	case window && p.screen.certain():
		return aai.Native
	case p.passphrase.Set(ctx):
		return aai.Passphrase
	case window:
		return aai.Native
	}
	return ""
}

// Check implements policy.Person.
func (p prover) Check(ctx context.Context, typed string) error { return p.passphrase.Check(ctx, typed) }
