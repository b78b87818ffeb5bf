package bearer_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/httpdoor/bearer"
)

// TestTokens checks that each agent has its own token, which is valid in every process
// until it is revoked, and is stored nowhere.
func TestTokens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "http-tokens.json")
	one, other := bearer.NewTokens(path, bearer.NewSecretVerifier("the secret")), bearer.NewTokens(path, nil)
	is := func(v bearer.Verifier, token, want string) {
		t.Helper()
		principal, err := v.Verify(t.Context(), token)
		wrong, refused := errors.AsType[*bearer.Error](err)
		assert.Check(t, is.Equal(principal, want), err)
		assert.Check(t, is.Equal((err == nil), (want != "")), err)
		assert.Check(t, want != "" || refused && wrong.Code == bearer.InvalidToken, "a token is %q's, %v; expected %q", principal, err, want)
	}
	is(other, "anything", "")
	work, err := one.Add("work")
	if err != nil {
		t.Fatal(err)
	}
	home, err := other.Add("home.2")
	if err != nil {
		t.Fatal(err)
	}
	is(one, work, "work")
	is(other, work, "work")
	is(one, home, "home.2")
	is(one, "the secret", bearer.LocalPrincipal)
	is(other, "the secret", "")
	is(one, work+"x", "")
	is(one, "", "")
	file, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(file), work) || strings.Contains(string(file), home) {
		t.Errorf("the file is %s, %v", file, err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for _, name := range []string{"work", "", bearer.LocalPrincipal, "Work", "a b", "-a", "é", strings.Repeat("a", 61), "a\n"} {
		if token, err := one.Add(name); aai.AsError(err) == nil || aai.AsError(err).Code != aai.InvalidParams || token != "" {
			t.Errorf("a token for %q: %v", name, err)
		}
	}
	if err := other.Revoke("work"); err != nil {
		t.Fatal(err)
	}
	is(one, work, "")
	is(one, home, "home.2")
	// A new token must not inherit the consents of a revoked one.
	if token, err := one.Add("work"); err == nil || token != "" {
		t.Error("the name of a revoked token was given again")
	}
	if err := one.Revoke("work"); aai.AsError(err) == nil {
		t.Error("what is not there was revoked")
	}
	listed, err := one.List()
	if err != nil || len(listed) != 1 || listed[0].Name != "home.2" || listed[0].CreatedAt.IsZero() {
		t.Errorf("%+v, %v", listed, err)
	}
}

// TestTokensOfManyProcesses checks that no added token is lost.
func TestTokensOfManyProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			_, err := bearer.NewTokens(path, nil).Add(fmt.Sprint("agent", i))
			assert.Check(t, err)
		})
	}
	group.Wait()
	listed, err := bearer.NewTokens(path, nil).List()
	assert.NilError(t, err)
	assert.Assert(t, is.Len(listed, 20))
}

// TestTokensFailClosed checks that an invalid file has no valid tokens, and is not
// replaced.
func TestTokensFailClosed(t *testing.T) {
	for name, text := range map[string]string{
		"is empty": "", "is of another version": `{"version": 2, "tokens": []}`, "has more in it": `{"version": 1, "tokens": [], "admin": true}`,
		"has a short digest": `{"version": 1, "tokens": [{"name": "a", "made": "2026-01-01T00:00:00Z", "sha256": "00"}]}`,
		"has a name that is not for names": `{"version": 1, "tokens": [{"name": "local", "made": "2026-01-01T00:00:00Z", "sha256": "` +
			strings.Repeat("00", 32) + `"}]}`,
	} {
		path := filepath.Join(t.TempDir(), "tokens")
		assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
		tokens := bearer.NewTokens(path, bearer.NewSecretVerifier("the secret"))
		if _, err := tokens.Verify(t.Context(), "x"); err == nil {
			t.Errorf("a file that %s verifies", name)
		} else if _, refused := errors.AsType[*bearer.Error](err); refused {
			t.Errorf("a file that %s: %v; nobody knows whose the token is", name, err)
		}
		principal, err := tokens.Verify(t.Context(), "the secret")
		assert.NilError(t, err, name)
		assert.Equal(t, principal, bearer.LocalPrincipal, name)
		_, err = tokens.Add("a")
		assert.Check(t, err != nil, "a file that %s was replaced", name)
	}
}
