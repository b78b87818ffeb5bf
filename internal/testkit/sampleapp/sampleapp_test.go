package sampleapp

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/catalog"
)

// TestTheSiteLetsNobodyInWithoutTheirProof checks that a code is valid once, and only for its requester.
func TestTheSiteLetsNobodyInWithoutTheirProof(t *testing.T) {
	s, err := Serve(t.Context())
	assert.NilError(t, err)
	defer s.Close()
	const verifier, back = "a-verifier-of-at-least-forty-three-characters-in-all", "http://127.0.0.1:9/callback"
	sum := sha256.Sum256([]byte(verifier))
	ask := url.Values{"response_type": {"code"}, "client_id": {"tester"}, "redirect_uri": {back}, "state": {"s1"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"}}
	code := func(decision string) url.Values {
		t.Helper()
		_, body := get(t, http.MethodGet, s.Address+"/authorize?"+ask.Encode(), nil)
		ticket := regexp.MustCompile(`name="ticket" value="(\w+)"`).FindStringSubmatch(body)
		assert.Assert(t, ticket != nil, "the page: %s", body)
		assert.Assert(t, is.Contains(body, "<b>tester</b>"))
		to := location(t, s.Address+"/decide", url.Values{"ticket": {ticket[1]}, "decision": {decision}})
		assert.Assert(t, strings.HasPrefix(to.String(), back+"?"), "it leads to %s", to)
		assert.Equal(t, to.Query().Get("state"), "s1", to)
		assert.Equal(t, to.Query().Get("iss"), s.Address, to)
		return to.Query()
	}
	form := func(code string) url.Values {
		return url.Values{"grant_type": {"authorization_code"}, "client_id": {"tester"}, "code": {code}, "redirect_uri": {back}, "code_verifier": {verifier}}
	}
	redeem := func(form url.Values) (int, string) { return get(t, http.MethodPost, s.Address+"/token", form) }
	q := code("deny")
	assert.Check(t, is.Equal(q.Get("error"), "access_denied"), q)
	assert.Check(t, is.Equal(q.Get("code"), ""), q)
	for name := range form("") {
		wrong := form(code("allow").Get("code"))
		if wrong.Set(name, wrong.Get(name)+"x"); name == "grant_type" {
			wrong.Set(name, "refresh_token")
		}
		status, _ := redeem(wrong)
		assert.Check(t, is.Equal(status, http.StatusBadRequest), name)
	}
	good := form(code("allow").Get("code"))
	status, body := redeem(good)
	var token struct {
		Token string `json:"access_token"`
	}
	err = json.Unmarshal([]byte(body), &token)
	assert.NilError(t, err, body)
	assert.Equal(t, status, http.StatusOK, body)
	assert.Assert(t, token.Token != "", body)
	status, _ = redeem(good)
	assert.Check(t, is.Equal(status, http.StatusBadRequest), "a code used twice: %d", status)
	status, _ = get(t, http.MethodGet, s.Address+"/api/errands", nil)
	assert.Check(t, is.Equal(status, http.StatusUnauthorized))
	assert.Check(t, is.Equal(s.unauthorized, 1))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.Address+"/api/errands", strings.NewReader(`{"what":"Buy <bread>"}`))
	assert.NilError(t, err)
	request.Header.Set("Authorization", "Bearer "+token.Token)
	response, err := http.DefaultClient.Do(request)
	assert.NilError(t, err)
	_ = response.Body.Close()
	assert.Check(t, is.Equal(response.StatusCode, http.StatusCreated))
	assert.Check(t, is.Contains(s.List(), "Buy <bread>"))
}

// TestTheSitesDescriptor checks that the gateway reads the descriptor without warnings.
func TestTheSitesDescriptor(t *testing.T) {
	s, err := Serve(t.Context())
	assert.NilError(t, err)
	defer s.Close()
	_, body := get(t, http.MethodGet, s.Address+"/.well-known/aai.json", nil)
	d, err := catalog.Parse([]byte(body), catalog.Options{Origin: s.Address})
	assert.NilError(t, err, d)
	assert.Assert(t, is.Len(d.Warnings, 0), d)
	if auth := d.App.Site.Auth; auth == nil || auth.TokenEndpoint != s.Address+"/token" || d.App.Site.BaseURL != s.Address+"/api" {
		t.Errorf("%+v at %s", auth, d.App.Site.BaseURL)
	}
}

// location posts a form and returns the target of the redirect without following it.
func location(t *testing.T, address string, form url.Values) *url.URL {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(form.Encode()))
	assert.NilError(t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	stays := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := stays.Do(request)
	assert.NilError(t, err)
	defer func() { _ = response.Body.Close() }()
	to, err := response.Location()
	assert.NilError(t, err)
	return to
}

func get(t *testing.T, method, address string, form url.Values) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form.Encode()))
	assert.NilError(t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	assert.NilError(t, err)
	defer func() { _ = response.Body.Close() }()
	b, err := io.ReadAll(response.Body)
	assert.NilError(t, err)
	return response.StatusCode, string(b)
}
