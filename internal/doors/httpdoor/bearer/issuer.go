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

	"aai"
	"aai/internal/site"
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

// leeway is how far the clocks of two servers may be apart.
const leeway = 30 * time.Second

// An Issuer verifies access tokens of one authorization server: JWTs by its keys
// (RFC 9068, RFC 7519), others by asking it (RFC 7662). What it must know of the
// server it fetches at the first token, and keeps.
type Issuer struct {
	cfg    IssuerConfig
	now    func() time.Time
	about  *cached[serverMetadata]
	keys   *keySet
	asking chan struct{} // bounds the questions about tokens that are open
	recent recentAnswers
}

// NewIssuer returns the Verifier for a server's tokens. It does no I/O.
func NewIssuer(cfg IssuerConfig) (*Issuer, error) {
	if err := checkAddress(cfg.Issuer); err != nil {
		return nil, aai.Errorf(aai.InvalidParams, "issuer: %w", err)
	}
	if len(cfg.Audience) == 0 || slices.Contains(cfg.Audience, "") {
		return nil, aai.Errorf(aai.InvalidParams, "audience: expected what tokens are meant for, at least one")
	}
	i := &Issuer{cfg: cfg, now: cfg.Now, asking: make(chan struct{}, mostQuestions)}
	if i.now == nil {
		i.now = time.Now
	}
	if cfg.Client == nil {
		cfg.Client = newClient()
		i.cfg = cfg
	}
	f := &fetcher{client: cfg.Client}
	i.about = newCached(i.now, func(ctx context.Context) (serverMetadata, error) { return f.discover(ctx, cfg.Issuer) })
	i.keys = newKeySet(i.now, func(ctx context.Context) (keys, error) {
		about, err := i.about.get(ctx)
		if err != nil {
			return keys{}, err
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
	if u.Scheme == "https" || u.Scheme == "http" && site.Loopback(u.Hostname()) {
		return nil
	}
	return fmt.Errorf("%q: expected https, because whoever is between could forge tokens", aai.CleanLabel(address, 120))
}

// claims are what a token, or the answer about one, says.
type claims struct {
	Issuer   string           `json:"iss"`
	Subject  string           `json:"sub"`
	Client   string           `json:"client_id"`
	Audience jwt.Audience     `json:"aud"`
	Expiry   *jwt.NumericDate `json:"exp"`
	Begins   *jwt.NumericDate `json:"nbf"`
	Scope    listed           `json:"scope"`
	// Scopes is where some servers say it.
	Scopes listed `json:"scp"`
	// Holder binds the token to a key, of which nothing is shown here.
	Holder json.RawMessage `json:"cnf"`
}

// listed are a text with spaces between, or a list.
type listed []string

// UnmarshalJSON implements json.Unmarshaler.
func (w *listed) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*w = strings.Fields(text)
		return nil
	}
	return json.Unmarshal(b, (*[]string)(w))
}

// Verify implements Verifier.
func (i *Issuer) Verify(ctx context.Context, token string) (string, error) {
	if strings.Count(token, ".") == 2 {
		c, err := i.readJWT(ctx, token)
		if err != nil {
			return "", err
		}
		if c.Expiry == nil || c.Issuer == "" {
			return "", invalidToken("the token says not when it ends, or not who made it")
		}
		return i.judge(c)
	}
	if i.cfg.ClientID == "" {
		return "", invalidToken("the token is no JWT, and this server does not ask about others")
	}
	c, err := i.ask(ctx, token)
	if err != nil {
		return "", err
	}
	return i.judge(c)
}

// judge decides by what is known to be said by the authorization server.
func (i *Issuer) judge(c claims) (string, error) {
	now := i.now()
	switch {
	case c.Issuer != "" && c.Issuer != i.cfg.Issuer:
		return "", invalidToken("the token is of another issuer")
	case c.Expiry != nil && !now.Add(-leeway).Before(c.Expiry.Time()):
		return "", invalidToken("the token has expired")
	case c.Begins != nil && now.Add(leeway).Before(c.Begins.Time()):
		return "", invalidToken("the token is not valid yet")
	case !slices.ContainsFunc(c.Audience, func(a string) bool { return slices.Contains(i.cfg.Audience, a) }):
		return "", invalidToken("the token is meant for another server")
	case len(c.Holder) > 0 && string(c.Holder) != "null":
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
