package bearer_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/doors/httpdoor/bearer"
)

// An authority is a small authorization server, which can also misbehave. The tests control
// its answers.
type authority struct {
	*httptest.Server
	mu             sync.Mutex
	keys           []any // as JSON
	metadata       map[string]any
	answer         map[string]any // about any token
	broken         bool
	fetched        atomic.Int64 // of the keys
	introspections atomic.Int64 // about tokens

	now atomic.Int64 // how far the verifier's clock is ahead
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	mux := http.NewServeMux()
	write := func(w http.ResponseWriter, value func() any) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.broken {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(value())
	}
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) { write(w, func() any { return a.metadata }) })
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		a.fetched.Add(1)
		write(w, func() any { return map[string]any{"keys": a.keys} })
	})
	mux.HandleFunc("/ask", func(w http.ResponseWriter, r *http.Request) {
		a.introspections.Add(1)
		write(w, func() any { return a.answer })
	})
	mux.HandleFunc("/elsewhere", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/keys", http.StatusFound) })
	mux.HandleFunc("/endless", func(w http.ResponseWriter, _ *http.Request) {
		for range 100 {
			_, _ = w.Write([]byte(strings.Repeat(" ", 1<<16)))
		}
	})
	a.Server = httptest.NewServer(mux)
	t.Cleanup(a.Close)
	a.metadata = map[string]any{"issuer": a.URL, "jwks_uri": a.URL + "/keys", "introspection_endpoint": a.URL + "/ask"}
	return a
}

func (a *authority) set(change func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change()
}

func (a *authority) advance(by time.Duration) { a.now.Add(int64(by)) }

const gatewayResource = "https://gateway.example/mcp"

func (a *authority) issuer(t *testing.T, change func(*bearer.IssuerConfig)) *bearer.IssuerVerifier {
	t.Helper()
	cfg := bearer.IssuerConfig{
		Issuer: a.URL, Audience: []string{gatewayResource}, Scopes: []string{"mcp"},
		Now: func() time.Time { return time.Now().Add(time.Duration(a.now.Load())) },
	}
	if change != nil {
		change(&cfg)
	}
	i, err := bearer.NewIssuerVerifier(cfg)
	assert.NilError(t, err)
	return i
}

// A signer makes tokens.
type signer struct {
	t     *testing.T
	alg   jose.SignatureAlgorithm
	key   any
	extra map[jose.HeaderKey]any
}

func (s signer) token(claims map[string]any) string {
	s.t.Helper()
	options := (&jose.SignerOptions{}).WithType("at+jwt")
	for name, value := range s.extra {
		options = options.WithHeader(name, value)
	}
	made, err := jose.NewSigner(jose.SigningKey{Algorithm: s.alg, Key: s.key}, options)
	assert.NilError(s.t, err)
	token, err := jwt.Signed(made).Claims(claims).Serialize()
	assert.NilError(s.t, err)
	return token
}

func newRSA(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	assert.NilError(t, err)
	return key
}

func newEC(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	assert.NilError(t, err)
	return key
}

func public(name string, key crypto.PublicKey) jose.JSONWebKey {
	return jose.JSONWebKey{KeyID: name, Key: key}
}

// claimsOf returns the claims of a valid token, with changes; nil removes a claim.
func (a *authority) claimsOf(changes map[string]any) map[string]any {
	claims := map[string]any{
		"iss": a.URL, "sub": "ann", "aud": gatewayResource, "scope": "openid mcp",
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
	}
	for name, value := range changes {
		claims[name] = value
		if value == nil {
			delete(claims, name)
		}
	}
	return claims
}

func verifyError(t *testing.T, i *bearer.IssuerVerifier, token string) string {
	t.Helper()
	principal, err := i.Verify(t.Context(), token)
	if wrong, ok := errors.AsType[*bearer.Error](err); ok {
		return wrong.Error()
	}
	if err != nil {
		return "not known: " + err.Error()
	}
	return principal
}

// TestClaims tests the claims of signed tokens.
func TestClaims(t *testing.T) {
	a := newAuthority(t)
	key := newRSA(t)
	a.keys = []any{public("k", key.Public())}
	s := signer{t, jose.RS256, jose.JSONWebKey{KeyID: "k", Key: key}, nil}
	i := a.issuer(t, nil)
	at := func(by time.Duration) int64 { return time.Now().Add(by).Unix() }
	for name, c := range map[string]struct {
		changes map[string]any
		want    string
	}{
		"as it should be":               {nil, "ann"},
		"for several servers":           {map[string]any{"aud": []string{"https://other.example", gatewayResource}}, "ann"},
		"scopes as a list":              {map[string]any{"scope": nil, "scp": []string{"mcp"}}, "ann"},
		"a client without a person":     {map[string]any{"sub": nil, "client_id": "robot"}, "client:robot"},
		"expired within the leeway":     {map[string]any{"exp": at(-20 * time.Second)}, "ann"},
		"begins within the leeway":      {map[string]any{"nbf": at(20 * time.Second)}, "ann"},
		"expired":                       {map[string]any{"exp": at(-40 * time.Second)}, "invalid_token: the token has expired"},
		"without an end":                {map[string]any{"exp": nil}, "invalid_token: the token has no expiry (exp) or no issuer (iss)"},
		"begins later":                  {map[string]any{"nbf": at(time.Minute)}, "invalid_token: the token is not valid yet"},
		"for another server":            {map[string]any{"aud": "https://other.example/mcp"}, "invalid_token: the token is for another audience"},
		"for an address that begins so": {map[string]any{"aud": gatewayResource + "/more"}, "invalid_token: the token is for another audience"},
		"for nobody":                    {map[string]any{"aud": nil}, "invalid_token: the token is for another audience"},
		"of another issuer":             {map[string]any{"iss": "https://evil.example"}, "invalid_token: the token is of another issuer"},
		"of no issuer":                  {map[string]any{"iss": nil}, "invalid_token: the token has no expiry (exp) or no issuer (iss)"},
		"without the scope":             {map[string]any{"scope": "mcpx openid"}, "insufficient_scope: the token lacks the scope mcp"},
		"without scopes":                {map[string]any{"scope": nil}, "insufficient_scope: the token lacks the scope mcp"},
		"bound to a key":                {map[string]any{"cnf": map[string]string{"jkt": "x"}}, "invalid_token: the token is bound to a key, and cannot be used as a bearer token"},
		"of nobody":                     {map[string]any{"sub": nil}, "invalid_token: the token has no subject (sub)"},
	} {
		got := verifyError(t, i, s.token(a.claimsOf(c.changes)))
		assert.Check(t, is.Equal(got, c.want), "a token %s gives %q, want %q", name, got, c.want)
	}
}

// TestSignatures tests keys and algorithms of signatures.
func TestSignatures(t *testing.T) {
	a := newAuthority(t)
	rsaKey, ecKey, strange := newRSA(t), newEC(t), newRSA(t)
	secret := []byte("a secret that is long enough to sign")
	a.keys = []any{
		public("rsa", rsaKey.Public()), public("ec", ecKey.Public()),
		jose.JSONWebKey{KeyID: "only-rs512", Key: rsaKey.Public(), Algorithm: "RS512"},
		jose.JSONWebKey{KeyID: "secret", Key: secret},                           // every verifier could sign
		jose.JSONWebKey{KeyID: "enc", Key: rsaKey.Public(), Use: "enc"},         // is not for signatures
		map[string]string{"kty": "of-tomorrow", "kid": "new"}, "not even a key", // are ignored
	}
	i := a.issuer(t, nil)
	der, err := x509.MarshalPKIXPublicKey(rsaKey.Public())
	assert.NilError(t, err)
	named := func(name string, key any) jose.JSONWebKey { return jose.JSONWebKey{KeyID: name, Key: key} }
	const noKey = "invalid_token: the token is signed by no key of the issuer"
	const noAlgorithm = "invalid_token: the token is no JWT that is signed by an algorithm allowed here"
	const wrong = "invalid_token: the signature of the token is wrong"
	for name, c := range map[string]struct {
		signer signer
		want   string
	}{
		"RSA":                               {signer{t, jose.RS256, named("rsa", rsaKey), nil}, "ann"},
		"RSA-PSS":                           {signer{t, jose.PS384, named("rsa", rsaKey), nil}, "ann"},
		"ECDSA":                             {signer{t, jose.ES256, named("ec", ecKey), nil}, "ann"},
		"without a key's name":              {signer{t, jose.ES256, ecKey, nil}, "ann"},
		"another key of that name":          {signer{t, jose.RS256, named("rsa", strange), nil}, wrong},
		"another key":                       {signer{t, jose.RS256, named("strange", strange), nil}, noKey},
		"another algorithm than the key's":  {signer{t, jose.RS256, named("only-rs512", rsaKey), nil}, wrong},
		"a key for encryption":              {signer{t, jose.RS256, named("enc", rsaKey), nil}, noKey},
		"the shared secret":                 {signer{t, jose.HS256, named("secret", secret), nil}, noAlgorithm},
		"the public key as a secret":        {signer{t, jose.HS256, named("rsa", der), nil}, noAlgorithm},
		"a key that the token brings along": {signer{t, jose.RS256, strange, map[jose.HeaderKey]any{"jwk": public("x", strange.Public())}}, noKey},
		"a token of logging out":            {signer{t, jose.RS256, named("rsa", rsaKey), map[jose.HeaderKey]any{"typ": "logout+jwt"}}, "invalid_token: the token is no access token"},
		"an older server's":                 {signer{t, jose.RS256, named("rsa", rsaKey), map[jose.HeaderKey]any{"typ": "JWT"}}, "ann"},
	} {
		got := verifyError(t, i, c.signer.token(a.claimsOf(nil)))
		assert.Check(t, is.Equal(got, c.want), "signed by %s it gives %q, want %q", name, got, c.want)
	}
	for _, token := range []string{"", ".", "..", "a.b.c", "e30.e30.", "eyJhbGciOiJub25lIn0.e30.", strings.Repeat("a.", 2) + strings.Repeat("A", 100_000)} {
		got := verifyError(t, i, token)
		assert.Check(t, strings.HasPrefix(got, "invalid_token: "), "%.20q gives %q", token, got)
	}
}

// TestKeysAreCached checks that keys are cached for all tokens and concurrent requests.
func TestKeysAreCached(t *testing.T) {
	a := newAuthority(t)
	key := newEC(t)
	a.keys = []any{public("k", key.Public())}
	i := a.issuer(t, nil)
	good := signer{t, jose.ES256, jose.JSONWebKey{KeyID: "k", Key: key}, nil}.token(a.claimsOf(nil))
	stranger := signer{t, jose.ES256, jose.JSONWebKey{KeyID: "unknown", Key: newEC(t)}, nil}.token(a.claimsOf(nil))
	flood := func(token string) {
		var group sync.WaitGroup
		for range 50 {
			group.Go(func() { _, _ = i.Verify(context.Background(), token) })
		}
		group.Wait()
	}
	for step, c := range []struct {
		later   time.Duration
		token   string
		fetches int64
	}{
		{0, good, 1}, {0, stranger, 1}, {9 * time.Second, stranger, 1}, {2 * time.Second, stranger, 2}, {0, stranger, 2},
		{time.Minute, good, 2}, {time.Hour, good, 3},
	} {
		a.advance(c.later)
		if flood(c.token); a.fetched.Load() != c.fetches {
			t.Errorf("step %d: the keys were fetched %d times, want %d", step, a.fetched.Load(), c.fetches)
		}
	}
	// An old document is better than none.
	a.set(func() { a.broken = true })
	a.advance(30 * time.Minute)
	_, err := i.Verify(t.Context(), good)
	assert.Assert(t, err != nil, "the token is said to be good after its end")
	fresh := signer{t, jose.ES256, jose.JSONWebKey{KeyID: "k", Key: key}, nil}.token(a.claimsOf(map[string]any{"exp": time.Now().Add(48 * time.Hour).Unix()}))
	a.advance(2 * time.Hour)
	got := verifyError(t, i, fresh)
	assert.Check(t, is.Equal(got, "ann"), "with keys of yesterday: %s", got)
}

// TestFailingServer checks that no token is accepted then, and none is called invalid.
func TestFailingServer(t *testing.T) {
	key := newEC(t)
	for name, spoil := range map[string]func(*authority){
		"answers with an error":            func(a *authority) { a.broken = true },
		"says it is another":               func(a *authority) { a.metadata["issuer"] = "https://other.example" },
		"says not where its keys are":      func(a *authority) { delete(a.metadata, "jwks_uri") },
		"keeps its keys where all can see": func(a *authority) { a.metadata["jwks_uri"] = "http://keys.example/keys" },
		"keeps its keys in a file":         func(a *authority) { a.metadata["jwks_uri"] = "file://localhost/keys" },
		"sends on to another address":      func(a *authority) { a.metadata["jwks_uri"] = a.URL + "/elsewhere" },
		"does not end":                     func(a *authority) { a.metadata["jwks_uri"] = a.URL + "/endless" },
		"has keys that are no list": func(a *authority) {
			a.metadata["jwks_uri"] = a.URL + "/.well-known/openid-configuration"
			a.metadata["keys"] = 7
		},
	} {
		a := newAuthority(t)
		a.keys = []any{public("k", key.Public())}
		spoil(a)
		token := signer{t, jose.ES256, jose.JSONWebKey{KeyID: "k", Key: key}, nil}.token(a.claimsOf(nil))
		i := a.issuer(t, func(c *bearer.IssuerConfig) {
			client := *http.DefaultClient
			client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			client.Transport = everywhere{a.Listener.Addr().String()}
			c.Client = &client
		})
		got := verifyError(t, i, token)
		assert.Check(t, strings.HasPrefix(got, "not known: "), "of a server that %s: %s", name, got)
	}
}

// everywhere makes the authority answer for every address.
type everywhere struct{ host string }

func (e everywhere) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = "http", e.host
	return http.DefaultTransport.RoundTrip(r)
}

// TestNoRedirects checks that the default client follows no redirects.
func TestNoRedirects(t *testing.T) {
	a := newAuthority(t)
	key := newEC(t)
	a.keys = []any{public("k", key.Public())}
	a.metadata["jwks_uri"] = a.URL + "/elsewhere"
	token := signer{t, jose.ES256, jose.JSONWebKey{KeyID: "k", Key: key}, nil}.token(a.claimsOf(nil))
	if got := verifyError(t, a.issuer(t, nil), token); !strings.HasPrefix(got, "not known: ") || a.fetched.Load() != 0 {
		t.Errorf("%s, and the keys were fetched %d times", got, a.fetched.Load())
	}
}

func TestNewIssuerRefuses(t *testing.T) {
	for _, cfg := range []bearer.IssuerConfig{
		{Issuer: "", Audience: []string{gatewayResource}}, {Issuer: "auth.example.com", Audience: []string{gatewayResource}},
		{Issuer: "http://auth.example.com", Audience: []string{gatewayResource}}, {Issuer: "http://localhost.example.com", Audience: []string{gatewayResource}},
		{Issuer: "https://user@auth.example.com", Audience: []string{gatewayResource}}, {Issuer: "https://auth.example.com"},
		{Issuer: "https://auth.example.com", Audience: []string{""}},
	} {
		_, err := bearer.NewIssuerVerifier(cfg)
		assert.Check(t, err != nil, "%+v is accepted", cfg)
	}
}
