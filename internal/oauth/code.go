package oauth

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/gybob/aai-gateway"
)

// newState returns 256 random bits.
func newState() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// newCallback returns a redirect path for one app only. An answer meant for another authorization
// server without an issuer then does not match (RFC 9700, section 4.4.2.2).
func newCallback() string { return "/callback/" + strings.ToLower(rand.Text()) }

// authorizeByCode runs the authorization code flow with PKCE (OAuth 2.1, section 4.1) in a local
// browser. The redirect goes to a port of the loopback interface (RFC 8252, section 7.3).
func (l *Authorizer) authorizeByCode(ctx context.Context, f *flow, s *server) error {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Until(f.ends), loginTimeoutError{})
	defer cancel()
	p := f.realm
	var key *proofKey
	if s.Proofs {
		var err error
		if key, err = newProofKey(); err != nil {
			return err
		}
	}
	a := &attempt{state: newState(), verifier: oauth2.GenerateVerifier(), issuer: s.Issuer,
		saysIssuer: s.SaysIssuer, host: p.name()}
	back, err := l.listen(l.site(p, s), s.Callback, a)
	if err != nil {
		return err
	}
	defer back.close()
	address, err := l.authorizationURL(ctx, p, s, a, back.redirect, key)
	if err != nil {
		return err
	}
	l.show(ctx, f, address)
	code, err := back.wait(ctx)
	if err != nil {
		back.finish(err)
		return err
	}
	t := p.newToken(s, key)
	err = l.exchange(ctx, t, url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {back.redirect},
		"code_verifier": {a.verifier}, "resource": {t.Resource},
	})
	if err == nil {
		err = l.keepToken(ctx, p, s, t)
	}
	back.finish(err) // the page shows success only after the token is stored
	return err
}

// show opens the address in the browser, and publishes it in any case.
func (l *Authorizer) show(ctx context.Context, f *flow, address string) {
	shown := false
	if l.hasBrowser() {
		err := l.cfg.Browser(ctx, address)
		if shown = err == nil; err != nil {
			l.log.Warn("the browser could not be opened", "error", err)
		}
	}
	f.publish(address, "", shown)
}

// hasBrowser reports whether the user can see a page.
func (l *Authorizer) hasBrowser() bool {
	return l.cfg.Browser != nil && (l.cfg.HasScreen == nil || l.cfg.HasScreen())
}

// exchange requests the token, once, because a code is valid for one use.
func (l *Authorizer) exchange(ctx context.Context, t *token, form url.Values) error {
	// The server's answer invalidates the code, so the request must finish.
	a, err := l.post(context.WithoutCancel(ctx), t.Endpoint, form, t.Client, t.Key)
	if err != nil {
		return err
	}
	return t.readAnswer(a, l.now())
}

// authorizationURL returns the page for the user's login.
func (l *Authorizer) authorizationURL(ctx context.Context, p *realm, s *server, a *attempt, redirect string,
	key *proofKey) (string, error) {
	form := url.Values{
		"response_type": {"code"}, "redirect_uri": {redirect}, "state": {a.state},
		"code_challenge": {oauth2.S256ChallengeFromVerifier(a.verifier)}, "code_challenge_method": {"S256"},
		"resource": {p.resource(s)},
	}
	if scopes := p.scopes(s); len(scopes) > 0 {
		form.Set("scope", strings.Join(scopes, " "))
		if strings.Contains(" "+strings.Join(scopes, " ")+" ", " offline_access ") {
			form.Set("prompt", "consent") // OpenID Connect Core, section 11
		}
	}
	if tools := l.tools(p); tools != "" {
		form.Set("aai_tools", tools)
	}
	if key != nil {
		thumbprint, err := key.thumbprint()
		if err != nil {
			return "", err
		}
		form.Set("dpop_jkt", thumbprint)
	}
	if s.MustPush && s.Push != "" {
		return l.pushParameters(ctx, s, form, key)
	}
	form.Set("client_id", s.Client.ID)
	return withQuery(s.Authorize, form)
}

// tools returns the tools of the login, for the AAI protocol's parameter.
func (l *Authorizer) tools(p *realm) string {
	if l.cfg.AllowedTools != nil {
		return strings.Join(l.cfg.AllowedTools(p.recipe.App), ",")
	}
	return p.recipe.Tool
}

// withQuery sets the parameters in an address.
func withQuery(address string, form url.Values) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", aai.Errorf(aai.AuthInvalid, "auth.oauth2.authorization_endpoint is no address")
	}
	query := u.Query()
	for name, values := range form {
		query[name] = values
	}
	u.RawQuery = query.Encode()
	return u.String(), nil
}

// pushParameters sends the parameters in advance, and returns the address that refers to them (RFC
// 9126).
func (l *Authorizer) pushParameters(ctx context.Context, s *server, form url.Values, key *proofKey) (string, error) {
	a, err := l.post(ctx, s.Push, form, s.Client, key)
	if err != nil {
		return "", err
	}
	var got struct {
		RequestURI string `json:"request_uri"`
	}
	if a.status != http.StatusCreated && a.status != http.StatusOK || json.Unmarshal(a.body, &got) != nil ||
		got.RequestURI == "" {
		return "", aai.Errorf(aai.AuthInvalid, "%s took the login's parameters but gave no request_uri", hostOf(s.Push))
	}
	return withQuery(s.Authorize, url.Values{"client_id": {s.Client.ID}, "request_uri": {got.RequestURI}})
}
