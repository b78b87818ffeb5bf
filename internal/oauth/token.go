package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
)

const (
	refreshMargin = 60 * time.Second // refresh a token this long before its expiry
	defaultLife   = time.Hour        // if the server sends no lifetime
	minRefusalAge = 60 * time.Second // a refusal does not refresh a younger token
)

// token is the stored token of one login.
type token struct {
	Host string // of the realm, for display
	App  string
	Kind string // an aai.Auth constant

	Access   string
	Refresh  string    `json:",omitempty"`
	Type     string    // "Bearer" or "DPoP"
	Expires  time.Time // zero: not known
	Obtained time.Time
	Forced   bool     // obtained because the API refused the previous token
	Scopes   []string // granted scopes

	Issuer   string `json:",omitempty"`
	Endpoint string // token endpoint, also for refreshes
	Revoke   string `json:",omitempty"`
	Client   identity
	Resource string
	Key      *proofKey `json:",omitempty"` // that the token is bound to
}

// isFresh reports whether the token is valid for some more time.
func (t *token) isFresh(now time.Time) bool {
	if t.Access == "" {
		return false
	}
	margin := min(refreshMargin, t.Expires.Sub(t.Obtained)/4)
	return t.Expires.IsZero() || now.Add(margin).Before(t.Expires)
}

// isValid reports whether the token has not expired.
func (t *token) isValid(now time.Time) bool {
	return t.Access != "" && (t.Expires.IsZero() || now.Before(t.Expires))
}

// tokenAnswer is a token endpoint's success (RFC 6749, section 5.1).
type tokenAnswer struct {
	AccessToken  string  `json:"access_token"`
	RefreshToken string  `json:"refresh_token"`
	TokenType    string  `json:"token_type"`
	ExpiresIn    seconds `json:"expires_in"`
	Scope        *string `json:"scope"`
}

// readAnswer reads a response of the token endpoint into t.
func (t *token) readAnswer(a *reply, now time.Time) error {
	host := hostOf(t.Endpoint)
	var got tokenAnswer
	if json.Unmarshal(a.body, &got) != nil || got.AccessToken == "" {
		return aai.Errorf(aai.AuthInvalid, "%s gave no token where one was expected", host)
	}
	if !visible(got.AccessToken) || !visible(got.RefreshToken) {
		return aai.Errorf(aai.AuthInvalid, "%s gave a token with characters that no token has", host)
	}
	switch {
	case got.TokenType == "" || strings.EqualFold(got.TokenType, "Bearer"):
		t.Type = "Bearer"
	case strings.EqualFold(got.TokenType, "DPoP") && t.Key != nil:
		t.Type = "DPoP"
	default:
		return aai.Errorf(aai.AuthInvalid, "%s gave a token of the type %q; expected \"Bearer\"", host, aai.CleanLabel(got.TokenType, 40))
	}
	t.Access = got.AccessToken
	if got.RefreshToken != "" {
		t.Refresh = got.RefreshToken
	}
	if got.Scope != nil {
		t.Scopes = strings.Fields(*got.Scope)
	}
	life := got.ExpiresIn.duration()
	if life == 0 {
		life = defaultLife
	}
	t.Obtained, t.Expires = now, now.Add(life)
	return nil
}

// authorizeOAuth adds the token, and begins a login if there is none.
func (l *Authorizer) authorizeOAuth(ctx context.Context, p *realm, req *http.Request) error {
	for range 2 {
		t, err := l.token(ctx, p)
		if err != nil {
			return err
		}
		if t != nil {
			return l.attach(t, req)
		}
		if s, err := l.storedServer(ctx, p); err != nil || p.discoversServer() && (s == nil || s.Issuer == "") {
			return err // try without a token: the server may need none
		}
		if err := l.logIn(ctx, p, nil); err != nil {
			return err
		}
	}
	return p.loginRequired(aai.AuthRequired, "the login to %s ended without a token for this call", p.name())
}

// token returns a token that is valid for some time, refreshed if needed, or nil if the user must
// log in.
func (l *Authorizer) token(ctx context.Context, p *realm) (*token, error) {
	id, err := l.tokenIDOf(ctx, p)
	if err != nil || id == "" {
		return nil, err
	}
	var t token
	found, err := l.read(ctx, id, &t)
	switch {
	case err != nil || !found:
		return nil, err
	case t.isFresh(l.now()):
		return &t, nil
	case t.Refresh == "":
		if t.isValid(l.now()) {
			return &t, nil
		}
		return nil, nil
	}
	return l.refresh(ctx, p, id, t.Access, false)
}

// tokenIDOf returns the id of the realm's token, or "" if no server is known yet.
func (l *Authorizer) tokenIDOf(ctx context.Context, p *realm) (string, error) {
	s, err := l.storedServer(ctx, p)
	if err != nil || s == nil || s.Authorize == "" {
		return "", err
	}
	who, ok := l.configuredIdentity(p, s)
	if !ok {
		who = s.Client
	}
	return p.tokenID(s, who.ID), nil
}

// refresh renews the token stored under the id, unless another refresh replaced the access token
// seen. The request continues after ctx ends: the server's answer invalidates the old refresh
// token, so the new one must be stored. refresh returns nil if the token was deleted. The error of
// a revoked login is AUTH_EXPIRED.
func (l *Authorizer) refresh(ctx context.Context, p *realm, id, seen string, forced bool) (*token, error) {
	type outcome struct {
		t   *token
		err error
	}
	done := make(chan outcome, 1)
	going := context.WithoutCancel(ctx)
	l.inFlight.Go(func() {
		t, err := l.refreshLocked(going, p, id, seen, forced)
		done <- outcome{t, err}
	})
	select {
	case o := <-done:
		return o.t, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *Authorizer) refreshLocked(ctx context.Context, p *realm, id, seen string, forced bool) (*token, error) {
	var t *token
	var dead error
	err := l.update(ctx, id, func(old []byte) ([]byte, error) {
		t = nil
		var now token
		if old == nil || !decodeRecord(old, &now) {
			return old, nil
		}
		// Read again under the lock: another process may have been faster.
		if now.Access != seen && now.isFresh(l.now()) {
			t = &now
			return old, nil
		}
		renewed, err := l.renew(ctx, now, forced)
		if isRefusal(err, "invalid_grant") {
			dead = err
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		t = renewed
		return json.Marshal(renewed)
	})
	switch {
	case dead != nil:
		e := p.loginRequired(aai.AuthExpired, "the login to %s is no longer valid: it was revoked, or used elsewhere", p.name())
		e.Err = dead
		return nil, e
	case err != nil:
		return l.keepOldToken(ctx, p, id, forced, err)
	}
	return t, nil // it is stored by now
}

// keepOldToken handles a failed refresh: the old token serves until it expires.
func (l *Authorizer) keepOldToken(ctx context.Context, p *realm, id string, forced bool, failure error) (*token, error) {
	var old token
	if found, err := l.read(ctx, id, &old); !forced && err == nil && found && old.isValid(l.now()) {
		return &old, nil
	}
	if refusal, ok := errors.AsType[*serverError](failure); ok {
		e := p.loginRequired(aai.AuthExpired, "the login to %s could not be renewed: %s", p.name(), refusal)
		e.Err = failure
		return nil, e
	}
	return nil, failure
}

// renew requests the next token from the token endpoint.
func (l *Authorizer) renew(ctx context.Context, t token, forced bool) (*token, error) {
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {t.Refresh}}
	if t.Resource != "" {
		form.Set("resource", t.Resource)
	}
	a, err := l.post(ctx, t.Endpoint, form, t.Client, t.Key)
	if err != nil {
		return nil, err
	}
	if err := t.readAnswer(a, l.now()); err != nil {
		return nil, err
	}
	t.Forced = forced
	return &t, nil
}

func isRefusal(err error, codes ...string) bool {
	refusal, ok := errors.AsType[*serverError](err)
	return ok && slices.Contains(codes, refusal.Code)
}

// attach adds the token, and its DPoP proof if needed, to the request.
func (l *Authorizer) attach(t *token, req *http.Request) error {
	req.Header.Del("DPoP")
	if t.Type != "DPoP" {
		req.Header.Set("Authorization", "Bearer "+t.Access)
		return nil
	}
	proof, err := l.proof(t.Key, req.Method, req.URL, t.Access)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "DPoP "+t.Access)
	req.Header.Set("DPoP", proof)
	return nil
}

// loginRequired returns the error for a login that the user must do first.
func (p *realm) loginRequired(code aai.Code, format string, args ...any) *aai.Error {
	e := aai.Errorf(code, format, args...)
	e.Hint = "Make the same call again to begin the login, or ask the person to run: " + p.command()
	if p.auth.Kind != aai.AuthOAuth2 {
		e.Hint = "Ask the person to run: " + p.command()
	}
	return e
}
