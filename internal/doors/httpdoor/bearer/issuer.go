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

// IssuerConfig says which tokens of an authorization server are good.
type IssuerConfig struct {
	// Issuer is the server's identifier, an https address. http is for a server on
	// this computer.
	Issuer string
	// Audience is what tokens must be meant for: one of these.
	Audience []string
	// Scopes are what tokens must have: all of them.
	Scopes []string
	// ClientID and ClientSecret are what the server knows this one by. Without
	// them only tokens that are JWTs can be verified.
	ClientID, ClientSecret string
	// Client sends the requests. Nil: one that follows no redirects.
	Client *http.Client
	// Now is the time. Nil: the clock's.
	Now func() time.Time
}

// clockSkew is how far the clocks of two servers may be apart.
const clockSkew = 30 * time.Second

// An Issuer verifies access tokens of one authorization server: JWTs by its keys
// (RFC 9068, RFC 7519), others by asking it (RFC 7662). What it must know of the
// server it fetches at the first token, and keeps.
type IssuerVerifier struct {
	cfg            IssuerConfig
	now            func() time.Time
	metadata       *cached[serverMetadata]
	keys           *keySet
	introspections chan struct{} // bounds the questions about tokens that are open
	introspected   introspectionCache
}

// NewIssuerVerifier returns the Verifier for a server's tokens. It does no I/O.
func NewIssuerVerifier(cfg IssuerConfig) (*IssuerVerifier, error) {
	if err := checkAddress(cfg.Issuer); err != nil {
		return nil, aai.Errorf(aai.InvalidParams, "issuer: %w", err)
	}
	if len(cfg.Audience) == 0 || slices.Contains(cfg.Audience, "") {
		return nil, aai.Errorf(aai.InvalidParams, "audience: expected what tokens are meant for, at least one")
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

// newClient returns a client that goes where it is told, and nowhere else.
func newClient() *http.Client {
	return &http.Client{
		Timeout:       fetchTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// checkAddress holds an address of the authorization server to https, or to this
// computer.
func checkAddress(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return fmt.Errorf("%q is no address such as https://auth.example.com", aai.CleanLabel(address, 120))
	}
	if u.Scheme == "https" || u.Scheme == "http" && netguard.IsLoopback(u.Hostname()) {
		return nil
	}
	return fmt.Errorf("%q: expected https, because whoever is between could forge tokens", aai.CleanLabel(address, 120))
}

// claims are what a token, or the answer about one, says.
type claims struct {
	Issuer    string           `json:"iss"`
	Subject   string           `json:"sub"`
	Client    string           `json:"client_id"`
	Audience  jwt.Audience     `json:"aud"`
	Expiry    *jwt.NumericDate `json:"exp"`
	NotBefore *jwt.NumericDate `json:"nbf"`
	Scope     stringList       `json:"scope"`
	// Scopes is where some servers say it.
	Scopes stringList `json:"scp"`
	// Confirmation binds the token to a key, of which nothing is shown here.
	Confirmation json.RawMessage `json:"cnf"`
}

// stringList are a text with spaces between, or a list.
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
			return "", invalidToken("the token says not when it ends, or not who made it")
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

// validate decides by what is known to be said by the authorization server.
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
		return "", invalidToken("the token is meant for another server")
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
	return "", invalidToken("the token says not who it speaks for")
}

func invalidToken(description string) *Error {
	return &Error{Code: InvalidToken, Description: description}
}
