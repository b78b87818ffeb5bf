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
	case window && p.screen.certain() && (!p.dialog.Fails() || !p.passphrase.Set(ctx)):
		return aai.Native
	case p.passphrase.Set(ctx):
		return aai.Passphrase
	case window:
		return aai.Native
	}
	return ""
}

// notice says what a person should know of how they are asked: that a window which they
// may wait for does not come.
func (p prover) notice(ctx context.Context) string {
	if p.dialog == nil || p.screen.certain() || p.dialog.Ready(ctx) != nil || !p.passphrase.Set(ctx) {
		return ""
	}
	return "The screen is known by DISPLAY alone, which anybody may have set, and a passphrase was set: you are asked for that at a terminal, " +
		"and no window asks. To be asked in windows, name the screen in desktop.session and confirm it (aai-gateway consent confirm)."
}

// Check implements policy.Person.
func (p prover) Check(ctx context.Context, typed string) error { return p.passphrase.Check(ctx, typed) }
