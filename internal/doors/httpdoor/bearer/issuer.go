package bearer

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/netguard"
)

// IssuerConfig determines which tokens of an authorization server are valid.
type IssuerConfig struct {
	// Issuer is the server's identifier, an https address. http is for a server on this
	// computer.
	Issuer string
	// Audience lists the accepted audiences: a token must have one of them.
	Audience []string
	// Scopes lists the scopes that a token must have: all of them.
	Scopes []string
	// ClientID and ClientSecret authenticate this server at the issuer. Without them only
	// tokens that are JWTs can be verified.
	ClientID, ClientSecret string
	// Client sends the requests. Nil means a client that follows no redirects.
	Client *http.Client
	// Now returns the time. Nil means time.Now.
	Now func() time.Time
}

// clockSkew is the accepted difference between the clocks of two servers.
const clockSkew = 30 * time.Second

// IssuerVerifier verifies access tokens of one authorization server: JWTs by its keys (RFC
// 9068, RFC 7519), others by introspection (RFC 7662). It fetches the server's metadata and
// keys at the first token, and caches them.
type IssuerVerifier struct {
	cfg            IssuerConfig
	now            func() time.Time
	metadata       *cached[serverMetadata]
	keys           *keySet
	introspections chan struct{} // bounds the concurrent introspection requests
	introspected   introspectionCache
}

// NewIssuerVerifier returns the Verifier for the tokens of cfg.Issuer, or INVALID_PARAMS if the
// issuer's address is unsafe or no audience is set. It does no I/O.
func NewIssuerVerifier(cfg IssuerConfig) (*IssuerVerifier, error) {
	if err := checkAddress(cfg.Issuer); err != nil {
		return nil, aai.Errorf(aai.InvalidParams, "issuer: %w", err)
	}
	if len(cfg.Audience) == 0 || slices.Contains(cfg.Audience, "") {
		return nil, aai.Errorf(aai.InvalidParams, "audience: expected at least one audience of tokens")
	}
	i := &IssuerVerifier{cfg: cfg, now: cfg.Now, introspections: make(chan struct{}, maxIntrospections)}
	if i.now == nil {
		i.now = time.Now
	}
	if cfg.Client == nil {
		cfg.Client = newClient()
		i.cfg = cfg
	}
	f := &fetcher{client: cfg.Client}
	i.metadata = newCached(i.now, func(ctx context.Context) (serverMetadata, error) { return f.discover(ctx, cfg.Issuer) })
	i.keys = newKeySet(i.now, func(ctx context.Context) (publicKeys, error) {
		about, err := i.metadata.get(ctx)
		if err != nil {
			return publicKeys{}, err
		}
		return f.fetchKeys(ctx, about.JWKSURI)
	})
	return i, nil
}

// newClient returns a client that follows no redirects.
func newClient() *http.Client {
	return &http.Client{
		Timeout:       fetchTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// checkAddress requires that an address of the authorization server is https, or on this
// computer.
func checkAddress(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return fmt.Errorf("%q is no address such as https://auth.example.com", aai.CleanLabel(address, 120))
	}
	if u.Scheme == "https" || u.Scheme == "http" && netguard.IsLoopback(u.Hostname()) {
		return nil
	}
	return fmt.Errorf("%q: expected https, because others could forge tokens on the way", aai.CleanLabel(address, 120))
}

// claims are the claims of a token or of an introspection result.
type claims struct {
	Issuer    string           `json:"iss"`
	Subject   string           `json:"sub"`
	Client    string           `json:"client_id"`
	Audience  jwt.Audience     `json:"aud"`
	Expiry    *jwt.NumericDate `json:"exp"`
	NotBefore *jwt.NumericDate `json:"nbf"`
	Scope     stringList       `json:"scope"`
	// Scopes holds the scopes for servers that use "scp" instead.
	Scopes stringList `json:"scp"`
	// Confirmation binds the token to a key; this package cannot verify that binding.
	Confirmation json.RawMessage `json:"cnf"`
}

// stringList is a JSON string of words separated by spaces, or a list of strings.
type stringList []string

// UnmarshalJSON implements json.Unmarshaler.
func (w *stringList) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*w = strings.Fields(text)
		return nil
	}
	return json.Unmarshal(b, (*[]string)(w))
}

// Verify implements Verifier.
func (i *IssuerVerifier) Verify(ctx context.Context, token string) (string, error) {
	if strings.Count(token, ".") == 2 {
		c, err := i.readJWT(ctx, token)
		if err != nil {
			return "", err
		}
		if c.Expiry == nil || c.Issuer == "" {
			return "", invalidToken("the token has no expiry (exp) or no issuer (iss)")
		}
		return i.validate(c)
	}
	if i.cfg.ClientID == "" {
		return "", invalidToken("the token is no JWT, and this server does not ask about others")
	}
	c, err := i.verifyOpaque(ctx, token)
	if err != nil {
		return "", err
	}
	return i.validate(c)
}

// validate checks authentic claims and returns the principal.
func (i *IssuerVerifier) validate(c claims) (string, error) {
	now := i.now()
	switch {
	case c.Issuer != "" && c.Issuer != i.cfg.Issuer:
		return "", invalidToken("the token is of another issuer")
	case c.Expiry != nil && !now.Add(-clockSkew).Before(c.Expiry.Time()):
		return "", invalidToken("the token has expired")
	case c.NotBefore != nil && now.Add(clockSkew).Before(c.NotBefore.Time()):
		return "", invalidToken("the token is not valid yet")
	case !slices.ContainsFunc(c.Audience, func(a string) bool { return slices.Contains(i.cfg.Audience, a) }):
		return "", invalidToken("the token is for another audience")
	case len(c.Confirmation) > 0 && string(c.Confirmation) != "null":
		return "", invalidToken("the token is bound to a key, and cannot be used as a bearer token")
	}
	for _, scope := range i.cfg.Scopes {
		if !slices.Contains(c.Scope, scope) && !slices.Contains(c.Scopes, scope) {
			return "", &Error{Code: InsufficientScope, Description: "the token lacks the scope " + scope}
		}
	}
	switch {
	case c.Subject != "":
		return c.Subject, nil
	case c.Client != "":
		return "client:" + c.Client, nil
	}
	return "", invalidToken("the token has no subject (sub)")
}

func invalidToken(description string) *Error {
	return &Error{Code: InvalidToken, Description: description}
}
