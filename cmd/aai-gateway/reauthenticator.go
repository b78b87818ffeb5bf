package main

import (
	"context"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/platform/linux/dialog"
	"github.com/gybob/aai-gateway/internal/policy/reauth"
)

// A prover is who may prove that it is they who want something of the gateway.
type reauthenticator struct {
	dialog     *dialog.Dialog // nil: no window may be shown
	screen     promptScreen
	passphrase *reauth.Passphrase
}

// Method implements policy.Person. A screen that the environment alone names may be anybody's
// making, so that who set a passphrase is asked for that.
func (p reauthenticator) Method(ctx context.Context) aai.Channel {
	window := p.dialog != nil && p.dialog.Ready(ctx) == nil
	switch {
	case window && p.screen.isTrusted() && (!p.dialog.IsFailing() || !p.passphrase.IsSet(ctx)):
		return aai.DesktopDialog
	case p.passphrase.IsSet(ctx):
		return aai.Passphrase
	case window:
		return aai.DesktopDialog
	}
	return ""
}

// notice says what a person should know of how they are asked: that a window which they
// may wait for does not come.
func (p reauthenticator) notice(ctx context.Context) string {
	if p.dialog == nil || p.screen.isTrusted() || p.dialog.Ready(ctx) != nil || !p.passphrase.IsSet(ctx) {
		return ""
	}
	return "The screen is known by DISPLAY alone, which anybody may have set, and a passphrase was set: you are asked for that at a terminal, " +
		"and no window asks. To be asked in windows, name the screen in desktop.session and confirm it (aai-gateway consent confirm)."
}

// CheckPassphrase implements policy.Person.
func (p reauthenticator) CheckPassphrase(ctx context.Context, typed string) error {
	return p.passphrase.CheckPassphrase(ctx, typed)
}
