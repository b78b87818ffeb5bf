package bearer_test

import (
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/doors/httpdoor/bearer"
)

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
