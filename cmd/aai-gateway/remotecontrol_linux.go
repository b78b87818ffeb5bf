package main

import (
	"context"
	"log/slog"

	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/platform/linux/wayland"
	"github.com/gybob/aai-gateway/internal/secrets"
)

// remoteTokens keeps the desktop's permission for remote control in the vault. It implements wayland.TokenStore.
type remoteTokens struct{ vault func() *secrets.Vault }

// remoteTokenID is the ID of the record.
const remoteTokenID = "desktop portal: remote control"

// LoadToken implements wayland.TokenStore.
func (r remoteTokens) LoadToken(ctx context.Context) (string, error) {
	token, err := r.vault().Get(ctx, remoteTokenID)
	return string(token), err
}

// SaveToken implements wayland.TokenStore.
func (r remoteTokens) SaveToken(ctx context.Context, token string) error {
	return r.vault().Update(ctx, remoteTokenID, func([]byte) ([]byte, error) { return []byte(token), nil })
}

// compositorConfig returns the configuration of the person's compositor.
func (s *setup) compositorConfig(shared *inputlock.Lock, log *slog.Logger) wayland.Config {
	environ := s.appEnviron
	return wayland.Config{
		ClipServer: clipboardCommand(environ, "WAYLAND_DISPLAY"),
		Getenv:     s.session.Getenv, InputLock: shared, Tokens: remoteTokens{s.policyVault}, Progress: progressText, Log: log,
	}
}

// progressText reports to the caller that the desktop asks the person.
func progressText(ctx context.Context, message string) { gateway.Progress(ctx, 0, 0, message) }
