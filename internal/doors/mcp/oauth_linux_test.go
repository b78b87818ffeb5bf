package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/doors/httpdoor/bearer"
	"github.com/gybob/aai-gateway/internal/doors/mcp/streamable"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// An authorizer is a real authorization server with programs as clients.
type authorizer struct{ *testkit.OIDCServer }

func startAuthorizer(t *testing.T) *authorizer {
	t.Helper()
	server, end := testkit.StartOIDC(t, "../../..", testkit.OIDCOptions{ProgramClients: true})
	t.Cleanup(func() { _ = end.Close() })
	return &authorizer{server}
}

// post sends a form as one of the server's clients.
func (a *authorizer) post(t *testing.T, path string, form url.Values) map[string]any {
	t.Helper()
	answer, err := a.PostForm(t.Context(), path, "agent", "agent's secret: 100%", form)
	assert.NilError(t, err)
	return answer
}

// token obtains a token for the resource.
func (a *authorizer) token(t *testing.T, resource, scope string) string {
	t.Helper()
	token, _ := a.post(t, "/token", url.Values{"grant_type": {"client_credentials"}, "resource": {resource}, "scope": {scope}})["access_token"].(string)
	assert.Assert(t, token != "", "there is no token")
	return token
}

const thisResource = "http://127.0.0.1:8741/mcp"

// A clock is a clock that a test advances.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time        { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) pass(by time.Duration) { c.ahead.Add(int64(by)) }

// serveOAuth serves a door that needs tokens of the authorizer.
func serveOAuth(t *testing.T, a *authorizer, changes ...func(*bearer.IssuerConfig)) *web {
	t.Helper()
	cfg := bearer.IssuerConfig{
		Issuer: a.Issuer, Audience: []string{thisResource, thisResource + "/opaque", thisResource + "?alg=ES256", thisResource + "?alg=EdDSA", thisResource + "/brief"},
		Scopes: []string{"mcp"}, ClientID: "gateway", ClientSecret: "gateway's secret: 100%",
	}
	for _, c := range changes {
		c(&cfg)
	}
	issuer, err := bearer.NewIssuerVerifier(cfg)
	assert.NilError(t, err)
	return newWorld(t).serve(t, func(c *streamable.Config) {
		c.HTTP.Verifier = issuer
		c.HTTP.Metadata = &bearer.Metadata{Resource: thisResource, Issuer: cfg.Issuer, Scopes: cfg.Scopes}
	})
}

// TestOAuth uses tokens of a real authorization server.
func TestOAuth(t *testing.T) {
	a := startAuthorizer(t)
	t.Run("FoundByTheClient", func(t *testing.T) { oauthFoundByTheClient(t, a) })
	t.Run("KindsOfTokens", func(t *testing.T) { oauthKindsOfTokens(t, a) })
	t.Run("Refused", func(t *testing.T) { oauthRefused(t, a) })
	t.Run("Revoked", func(t *testing.T) { oauthRevoked(t, a) })
	t.Run("NotAnswered", func(t *testing.T) { oauthNotAnswered(t, a) })
	t.Run("NewKeys", func(t *testing.T) { oauthNewKeys(t, a) }) // changes the server's keys
}

// oauthFoundByTheClient does the steps of a client that knows only the address: the challenge, the
// metadata of the resource, that of the server, a token, a call.
func oauthFoundByTheClient(t *testing.T, a *authorizer) {
	s := serveOAuth(t, a)
	response, _ := s.text(t, httpRequest{body: initialize})
	challenge := response.Header.Get("WWW-Authenticate")
	if want := `Bearer realm="aai-gateway", scope="mcp", resource_metadata="http://127.0.0.1:8741/.well-known/oauth-protected-resource/mcp"`; response.StatusCode != http.StatusUnauthorized || challenge != want {
		t.Fatalf("%s, with the challenge %s", response.Status, challenge)
	}
	address, err := url.Parse(regexp.MustCompile(`resource_metadata="([^"]*)"`).FindStringSubmatch(challenge)[1])
	assert.NilError(t, err)
	var resource struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
		Scopes   []string `json:"scopes_supported"`
		Methods  []string `json:"bearer_methods_supported"`
	}
	for _, path := range []string{address.Path, "/.well-known/oauth-protected-resource"} {
		response, text := s.text(t, httpRequest{method: "GET", path: path})
		if err := json.Unmarshal([]byte(text), &resource); err != nil || response.StatusCode != http.StatusOK || response.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Fatalf("%s: %s: %s", path, response.Status, text)
		}
	}
	assert.Check(t, is.Equal(fmt.Sprint(resource), fmt.Sprintf("{%s [%s] [mcp] [header]}", thisResource, a.Issuer)), "%+v", resource)
	token := a.token(t, resource.Resource, resource.Scopes[0])
	for _, c := range []*caller{s.as(token).open(t), s.as(token).modern()} {
		c.ask(t, "tools/call", exec(addTool, `{}`)).result(t).succeeds(t)
		call := <-s.added
		assert.Check(t, is.Equal(call.Caller.Principal, "agent"), "%+v", call.Caller)
		assert.Check(t, is.Equal(call.Caller.Identity, "http:agent@"+a.Issuer), "%+v", call.Caller)
	}
}

func oauthKindsOfTokens(t *testing.T, a *authorizer) {
	s := serveOAuth(t, a)
	for _, resource := range []string{thisResource, thisResource + "?alg=ES256", thisResource + "?alg=EdDSA", thisResource + "/opaque"} {
		token := a.token(t, resource, "other mcp")
		assert.Assert(t, (strings.Count(token, ".") == 2) != strings.Contains(resource, "opaque"), "the token for %s is %s", resource, token)
		s.as(token).open(t).lives(t)
	}
}

func oauthRefused(t *testing.T, a *authorizer) {
	s := serveOAuth(t, a)
	withoutAsking := serveOAuth(t, a, func(c *bearer.IssuerConfig) { c.ClientID = "" })
	good := a.token(t, thisResource, "mcp")
	parts := strings.Split(good, ".")
	const none = "eyJhbGciOiJub25lIn0" // {"alg":"none"}
	brief := a.token(t, thisResource+"/brief", "mcp")
	for _, c := range []struct {
		name, token string
		s           *web
		status      int
		says        string
	}{
		{"for another server", a.token(t, "http://127.0.0.1:9999/mcp", "mcp"), s, 401, "for another audience"},
		{"opaque, for another server", a.token(t, "http://127.0.0.1:9999/opaque", "mcp"), s, 401, "for another audience"},
		{"without the scope", a.token(t, thisResource, "other"), s, 403, "lacks the scope mcp"},
		{"opaque, without the scope", a.token(t, thisResource+"/opaque", "other"), s, 403, "lacks the scope mcp"},
		{"changed", parts[0] + "." + parts[1][:20] + "A" + parts[1][21:] + "." + parts[2], s, 401, "invalid_token"},
		{"with another signature", parts[0] + "." + parts[1] + "." + strings.Split(brief, ".")[2], s, 401, "signature of the token is wrong"},
		{"signed by nothing", none + "." + parts[1] + ".", s, 401, "algorithm allowed"},
		{"opaque, and nobody is asked", a.token(t, thisResource+"/opaque", "mcp"), withoutAsking, 401, "does not ask about others"},
		{"made up", "made-up", s, 401, "not active"},
	} {
		response, text := c.s.text(t, httpRequest{body: initialize, headers: c.s.as(c.token).headers})
		challenge := response.Header.Get("WWW-Authenticate")
		if response.StatusCode != c.status || !strings.Contains(text, c.says) {
			t.Errorf("a token %s: %s: %s", c.name, response.Status, text)
		}
		code := `error="invalid_token"`
		if c.status == 403 {
			code = `error="insufficient_scope"`
		}
		assert.Assert(t, is.Contains(challenge, code), c.name)
		assert.Assert(t, is.Contains(challenge, `scope="mcp"`), c.name)
		assert.Assert(t, is.Contains(challenge, "resource_metadata="), c.name)
	}
	later := &clock{}
	later.pass(45 * time.Second) // more than its lifetime of a second and the clock skew
	old := serveOAuth(t, a, func(c *bearer.IssuerConfig) { c.Now = later.now })
	if response, text := old.text(t, httpRequest{body: initialize, headers: old.as(brief).headers}); response.StatusCode != http.StatusUnauthorized || !strings.Contains(text, "expired") {
		t.Errorf("an old token: %s: %s", response.Status, text)
	}
	s.as(good).open(t).lives(t)
}

// oauthRevoked checks that a revoked token is valid only as long as its introspection result is cached.
func oauthRevoked(t *testing.T, a *authorizer) {
	later := &clock{}
	s := serveOAuth(t, a, func(c *bearer.IssuerConfig) { c.Now = later.now })
	token := a.token(t, thisResource+"/opaque", "mcp")
	c := s.as(token).open(t)
	a.post(t, "/token/revocation", url.Values{"token": {token}})
	later.pass(31 * time.Second)
	if response, text := c.text(t, httpRequest{body: c.body("ping", "{}"), headers: c.headers}); response.StatusCode != http.StatusUnauthorized || !strings.Contains(text, "not active") {
		t.Errorf("%s: %s", response.Status, text)
	}
}

// oauthNotAnswered checks that no token is accepted if the authorization server does not answer, and
// that none is called invalid.
func oauthNotAnswered(t *testing.T, a *authorizer) {
	token, opaque := a.token(t, thisResource, "mcp"), a.token(t, thisResource+"/opaque", "mcp")
	for name, c := range map[string]struct {
		token  string
		change func(*bearer.IssuerConfig)
	}{
		"nobody is there":                    {token, func(c *bearer.IssuerConfig) { c.Issuer = "http://127.0.0.1:1" }},
		"it calls itself by another name":    {token, func(c *bearer.IssuerConfig) { c.Issuer = strings.Replace(a.Issuer, "127.0.0.1", "localhost", 1) }},
		"it does not know this one's secret": {opaque, func(c *bearer.IssuerConfig) { c.ClientSecret = "wrong" }},
	} {
		s := serveOAuth(t, a, c.change)
		response, text := s.text(t, httpRequest{body: initialize, headers: s.as(c.token).headers})
		assert.Check(t, is.Equal(response.StatusCode, http.StatusServiceUnavailable), "%s %s %s", name, response.Status, text)
		assert.Check(t, response.Header.Get("Retry-After") != "", "%s %s %s", name, response.Status, text)
		assert.Check(t, is.Equal(response.Header.Get("WWW-Authenticate"), ""), "%s %s %s", name, response.Status, text)
	}
}

// oauthNewKeys checks that tokens with the server's new keys are valid after one fetch.
func oauthNewKeys(t *testing.T, a *authorizer) {
	later := &clock{}
	s := serveOAuth(t, a, func(c *bearer.IssuerConfig) { c.Now = later.now })
	before := a.token(t, thisResource, "mcp")
	s.as(before).open(t).lives(t)
	a.post(t, "/rotate", nil)
	after := a.token(t, thisResource, "mcp")
	status := func(token string) int {
		response, _ := s.text(t, httpRequest{body: initialize, headers: s.as(token).headers})
		return response.StatusCode
	}
	n := status(after)
	assert.Check(t, is.Equal(n, 401), "the keys were fetched again after no time, and the token gave %d", n)
	later.pass(11 * time.Second)
	n = status(after)
	assert.Check(t, is.Equal(n, 200), "a token of the new keys gives %d", n)
	n = status(before)
	assert.Check(t, is.Equal(n, 401), "a token of the old keys gives %d", n)
}
