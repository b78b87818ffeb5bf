package main

import (
	"context"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/platform/linux/dialog"
	"github.com/gybob/aai-gateway/internal/policy/reauth"
)

// reauthenticator authenticates the user.
type reauthenticator struct {
	dialog     *dialog.Dialog // nil: dialogs are disabled
	screen     promptScreen
	passphrase *reauth.Passphrase
}

// Method implements policy.Authenticator. A screen that only the environment names could be
// forged, so a passphrase takes precedence if one is set.
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

// notice explains to the user why no dialog appears, if that is the case.
func (p reauthenticator) notice(ctx context.Context) string {
	if p.dialog == nil || p.screen.isTrusted() || p.dialog.Ready(ctx) != nil || !p.passphrase.IsSet(ctx) {
		return ""
	}
	return "The screen is known only by DISPLAY, which any program may have set. So you are asked for your passphrase at a terminal, " +
		"not in a window. To be asked in windows, name the screen in desktop.session and confirm it (aai-gateway consent confirm)."
}

// CheckPassphrase implements policy.Authenticator.
func (p reauthenticator) CheckPassphrase(ctx context.Context, typed string) error {
	return p.passphrase.CheckPassphrase(ctx, typed)
}
