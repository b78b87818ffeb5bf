package builtin_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/builtin"
	"github.com/gybob/aai-gateway/internal/secrets"
)

// noKeychain is an environment without a place for a key.
func noKeychain(name string) string {
	if name == "XDG_RUNTIME_DIR" {
		return "/nonexistent"
	}
	return ""
}

func statusOf(t *testing.T, w *world) answer.Keychain {
	t.Helper()
	b, err := json.Marshal(w.callBuiltin(t, builtin.Keychain, `{}`).Data)
	var s answer.Keychain
	err = errors.Join(err, json.Unmarshal(b, &s))
	assert.NilError(t, err)
	return s
}

// TestKeychainStatus checks that the status reflects the vault, and holds no secret.
func TestKeychainStatus(t *testing.T) {
	w := newWorld(t, nil)
	folder := filepath.Join(t.TempDir(), "secrets")
	w.deps.Vault = secrets.New(secrets.Config{Folder: folder, Getenv: noKeychain, AllowInsecureFile: true})
	w.deps.UnsealedReason = func() string { return "" }
	w.open()
	s := statusOf(t, w)
	assert.Assert(t, !s.Exists, "before: %+v", s)
	assert.Equal(t, s.Place, "insecure file", "%+v", s)
	assert.Equal(t, s.Folder, folder, "%+v", s)
	assert.Equal(t, s.Problem, "", "%+v", s)
	assert.Equal(t, s.Unsealed, "", "%+v", s)
	assert.Assert(t, is.Len(s.Places, 5), "%+v", s)
	assert.NilError(t, w.deps.Vault.Update(t.Context(), "a", func([]byte) ([]byte, error) { return []byte("canary"), nil }))
	s = statusOf(t, w)
	assert.Assert(t, s.Exists, "after: %+v", s)
	assert.Equal(t, s.Records, 1, "%+v", s)
	assert.Equal(t, len(s.Key), 8, "%+v", s)
	assert.Assert(t, s.Warning != "", "after: %+v", s)
	text := fmt.Sprintf("%+v", s)
	assert.Check(t, !strings.Contains(text, "canary"), text)
}

// TestNothingIsSealed checks the reason for unsealed storage, also of consents.
func TestNothingIsSealed(t *testing.T) {
	w := newWorld(t, apps())
	w.deps.Vault = secrets.New(secrets.Config{Folder: filepath.Join(t.TempDir(), "secrets"), Getenv: noKeychain})
	w.deps.UnsealedReason = func() string { return "no key" }
	w.open()
	s := statusOf(t, w)
	assert.Assert(t, !s.Exists, "%+v", s)
	assert.Equal(t, s.Place, "", "%+v", s)
	assert.Assert(t, is.Contains(s.Problem, "no place here can keep the key"), "%+v", s)
	assert.Equal(t, s.Unsealed, s.Problem, "%+v", s)
	assert.Assert(t, is.Contains(s.Hint, "make a key file"), "%+v", s)
	warning := w.callBuiltin(t, builtin.ListConsents, `{}`).Warning
	assert.Check(t, is.Equal(warning, "the consents are in a plain file: "+s.Problem), "the list of consents warns: %q", warning)
	w.deps.UnsealedReason = func() string { return "" }
	w.open()
	warning = w.callBuiltin(t, builtin.ListConsents, `{}`).Warning
	assert.Check(t, is.Equal(warning, ""), "the list of consents warns: %q", warning)
}
