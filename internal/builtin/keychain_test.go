package builtin_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

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
	if err = errors.Join(err, json.Unmarshal(b, &s)); err != nil {
		t.Fatal(err)
	}
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
	if s.Exists || s.Place != "insecure file" || s.Folder != folder || s.Problem != "" || s.Unsealed != "" || len(s.Places) != 5 {
		t.Errorf("before: %+v", s)
	}
	if err := w.deps.Vault.Update(t.Context(), "a", func([]byte) ([]byte, error) { return []byte("canary"), nil }); err != nil {
		t.Fatal(err)
	}
	s = statusOf(t, w)
	if !s.Exists || s.Records != 1 || len(s.Key) != 8 || s.Warning == "" {
		t.Errorf("after: %+v", s)
	}
	if text := fmt.Sprintf("%+v", s); strings.Contains(text, "canary") {
		t.Error(text)
	}
}

// TestNothingIsSealed checks the reason for unsealed storage, also of consents.
func TestNothingIsSealed(t *testing.T) {
	w := newWorld(t, apps())
	w.deps.Vault = secrets.New(secrets.Config{Folder: filepath.Join(t.TempDir(), "secrets"), Getenv: noKeychain})
	w.deps.UnsealedReason = func() string { return "no key" }
	w.open()
	s := statusOf(t, w)
	if s.Exists || s.Place != "" || !strings.Contains(s.Problem, "no place here can keep the key") || s.Unsealed != s.Problem || !strings.Contains(s.Hint, "make a key file") {
		t.Errorf("%+v", s)
	}
	if warning := w.callBuiltin(t, builtin.ListConsents, `{}`).Warning; warning != "the consents are in a plain file: "+s.Problem {
		t.Errorf("the list of consents warns: %q", warning)
	}
	w.deps.UnsealedReason = func() string { return "" }
	w.open()
	if warning := w.callBuiltin(t, builtin.ListConsents, `{}`).Warning; warning != "" {
		t.Errorf("the list of consents warns: %q", warning)
	}
}
