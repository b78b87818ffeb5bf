package main

import (
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/platform/linux/dialog"
	"github.com/gybob/aai-gateway/internal/platform/linux/session"
	"github.com/gybob/aai-gateway/internal/policy/reauth"
	"github.com/gybob/aai-gateway/internal/secrets"
)

// TestCheckSaysThatNoWindowAsks: with a passphrase, and a screen known only by DISPLAY, the check
// reports that no dialog will appear.
func TestCheckSaysThatNoWindowAsks(t *testing.T) {
	room := session.New(session.Config{Getenv: func(name string) string {
		if name == session.PrivateMark {
			return "1" // it reads nothing else
		}
		return ""
	}})
	vault := secrets.New(secrets.Config{Folder: filepath.Join(t.TempDir(), "secrets"), AllowInsecureFile: true, Getenv: func(string) string { return "/nonexistent" }})
	p := reauthenticator{screen: promptScreen{accountSession: room, environmentSession: room}, passphrase: reauth.NewPassphrase(vault.NonInteractive(), "")}
	p.dialog = dialog.New(dialog.Config{Getenv: func(name string) string {
		if name == "DISPLAY" {
			return ":0" // it is not used
		}
		return ""
	}, Folder: t.TempDir()})
	got := p.notice(t.Context())
	assert.Check(t, is.Equal(got, ""), "without a passphrase: %q", got)
	assert.NilError(t, p.passphrase.Change(t.Context(), "a phrase of this person"))
	got = p.notice(t.Context())
	assert.Assert(t, is.Contains(got, "not in a window"))
	assert.Equal(t, p.Method(t.Context()), aai.Passphrase)
}
