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
	"time"

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

func TestFile(t *testing.T) {
	f := bearer.TokenFile{Path: filepath.Join(t.TempDir(), "state", "http-token")}
	// Several processes may start at once; they get the same token.
	var group sync.WaitGroup
	tokens := make([]string, 20)
	for i := range tokens {
		group.Go(func() {
			token, err := f.Token()
			assert.Check(t, err)
			tokens[i] = token
		})
	}
	group.Wait()
	for _, token := range tokens {
		assert.Equal(t, token, tokens[0], "%q", tokens)
		assert.Equal(t, len(token), 43, "%q", tokens)
	}
	if info, err := os.Stat(f.Path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
	next, err := f.Rotate()
	assert.NilError(t, err, "%q", next)
	assert.Assert(t, next != tokens[0], "the next token is %q, %v", next, err)
	assert.Equal(t, len(next), 43, "%q", next)
	again, err := f.Token()
	assert.NilError(t, err)
	assert.Equal(t, again, next)
	left, err := os.ReadDir(filepath.Dir(f.Path))
	assert.NilError(t, err)
	assert.Assert(t, is.Len(left, 1))
}

// TestFileFailsClosed checks that an invalid secret is neither used nor replaced without a
// request.
func TestFileFailsClosed(t *testing.T) {
	for name, spoil := range map[string]func(string) error{
		"is empty":               func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"is short":               func(path string) error { return os.WriteFile(path, []byte("secret\n"), 0o600) },
		"is large":               func(path string) error { return os.WriteFile(path, make([]byte, 1<<20), 0o600) },
		"is a folder":            func(path string) error { return os.Mkdir(path, 0o700) },
		"is readable for others": func(path string) error { return readableByOthers(path) },
	} {
		f := bearer.TokenFile{Path: filepath.Join(t.TempDir(), "http-token")}
		assert.NilError(t, spoil(f.Path))
		token, err := f.Token()
		if runtime.GOOS == "windows" && name == "is readable for others" {
			continue
		}
		e, ok := errors.AsType[*aai.Error](err)
		assert.Assert(t, ok, "a file that %s gives %q, %v", name, token, err)
		assert.Equal(t, e.Code, aai.InvalidParams, "%s %v", name, err)
		assert.Assert(t, e.Hint != "", "a file that %s gives %q, %v", name, token, err)
		assert.Equal(t, token, "", "%s %v", name, err)
	}
}

func readableByOthers(path string) error {
	if err := os.WriteFile(path, make([]byte, 43), 0o600); err != nil {
		return err
	}
	return os.Chmod(path, 0o640)
}

func TestSecret(t *testing.T) {
	s := bearer.NewSecretVerifier("the secret")
	principal, err := s.Verify(t.Context(), "the secret")
	assert.NilError(t, err)
	assert.Equal(t, principal, bearer.LocalPrincipal)
	for _, token := range []string{"", "the secre", "the secret ", "the secret\x00", "THE SECRET"} {
		_, err := s.Verify(t.Context(), token)
		wrong, ok := errors.AsType[*bearer.Error](err)
		assert.Assert(t, ok, "%q gives %v", token, err)
		assert.Equal(t, wrong.Code, bearer.InvalidToken, "%q %v", token, err)
	}
}

// TestIntrospection tests the server's answers about tokens that are not JWTs.
func TestIntrospection(t *testing.T) {
	for name, c := range map[string]struct {
		answer map[string]any
		want   string
	}{
		"good":               {map[string]any{"active": true, "sub": "ann", "aud": gatewayResource, "scope": "mcp"}, "ann"},
		"not active":         {map[string]any{"active": false, "sub": "ann", "aud": gatewayResource, "scope": "mcp"}, "invalid_token: the token is not active"},
		"active as a word":   {map[string]any{"active": "true", "sub": "ann", "aud": gatewayResource, "scope": "mcp"}, "not known"},
		"nothing":            {map[string]any{"sub": "ann", "aud": gatewayResource, "scope": "mcp"}, "not known"},
		"for another":        {map[string]any{"active": true, "sub": "ann", "aud": "https://other.example", "scope": "mcp"}, "invalid_token: the token is for another audience"},
		"for whom?":          {map[string]any{"active": true, "sub": "ann", "scope": "mcp"}, "invalid_token: the token is for another audience"},
		"of another issuer":  {map[string]any{"active": true, "iss": "https://x", "sub": "ann", "aud": gatewayResource, "scope": "mcp"}, "invalid_token: the token is of another issuer"},
		"expired":            {map[string]any{"active": true, "exp": 1, "sub": "ann", "aud": gatewayResource, "scope": "mcp"}, "invalid_token: the token has expired"},
		"without the scope":  {map[string]any{"active": true, "sub": "ann", "aud": gatewayResource}, "insufficient_scope: the token lacks the scope mcp"},
		"of nobody":          {map[string]any{"active": true, "aud": gatewayResource, "scope": "mcp"}, "invalid_token: the token has no subject (sub)"},
		"bound to something": {map[string]any{"active": true, "sub": "ann", "aud": gatewayResource, "scope": "mcp", "cnf": map[string]any{}}, "invalid_token: the token is bound to a key, and cannot be used as a bearer token"},
	} {
		a := newAuthority(t)
		a.answer = c.answer
		i := a.issuer(t, func(c *bearer.IssuerConfig) { c.ClientID = "gateway" })
		got := verifyError(t, i, "opaque")
		assert.Check(t, strings.HasPrefix(got, c.want), "%s %q %q", name, got, c.want)
	}
	a := newAuthority(t)
	a.answer = map[string]any{"active": true, "sub": "ann", "aud": gatewayResource, "scope": "mcp"}
	i := a.issuer(t, func(c *bearer.IssuerConfig) { c.ClientID = "gateway" })
	for range 20 {
		verifyError(t, i, "opaque")
	}
	n := a.introspections.Load()
	assert.Check(t, n == 1, "the server was asked %d times about one token", n)
	a.set(func() { a.answer["active"] = false })
	a.advance(31 * time.Second)
	got := verifyError(t, i, "opaque")
	assert.Check(t, is.Equal(got, "invalid_token: the token is not active"), "a token that was taken back: %s", got)
}
