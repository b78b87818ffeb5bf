package oauth_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/oauth"
)

// tokens returns the number of stored tokens.
func (w *world) tokens() int {
	n := 0
	for id := range w.secrets.all() {
		if strings.HasPrefix(id, "login/token/") {
			n++
		}
	}
	return n
}

// TestATokenIsForOnePlace: another origin, API, server, client or scope has another token, and
// never finds the first.
func TestATokenIsForOnePlace(t *testing.T) {
	s := newStage(t)
	s.logIn()
	first := *s.recipe
	other := startFake(t)
	elsewhere := httptest.NewServer(nil)
	defer elsewhere.Close()
	for i, c := range []struct {
		name   string
		change func(*aai.HTTPRecipe)
	}{
		{"another origin", func(h *aai.HTTPRecipe) { h.Origin = "http://127.0.0.1:1" }},
		{"yet another origin", func(h *aai.HTTPRecipe) { h.Origin = "http://127.0.0.1:2" }},
		{"another API", func(h *aai.HTTPRecipe) { h.BaseURL = elsewhere.URL }},
		{"another server", func(h *aai.HTTPRecipe) {
			h.Auth.AuthorizationEndpoint, h.Auth.TokenEndpoint = other.URL+"/authorize", other.URL+"/token"
		}},
		{"another client", func(h *aai.HTTPRecipe) { h.Auth.ClientID = "another" }},
		{"a scope", func(h *aai.HTTPRecipe) { h.Auth.Scopes = []string{"a"} }},
		{"two scopes", func(h *aai.HTTPRecipe) { h.Auth.Scopes = []string{"a", "b"} }},
	} {
		changed := first
		http1, auth := *first.HTTP, *first.HTTP.Auth
		http1.Auth = &auth
		c.change(&http1)
		changed.HTTP = &http1
		s.recipe = &changed
		s.logIn() // fails the test if no page is opened
		n := s.tokens()
		assert.Equal(t, n, i+2, "after %s there are %d tokens", c.name, n)
	}
	s.recipe.HTTP.Auth.Scopes = []string{"b", "a"} // in another order
	assert.Check(t, s.authorize(t.Context()))
	s.recipe.App = "org.example.another" // the app's id is not part of it
	assert.Check(t, s.authorize(t.Context()))
}

// TestThePageDoesNotLie: the page shows success only after the token is stored.
func TestThePageDoesNotLie(t *testing.T) {
	s := newStage(t)
	s.logins = s.open(s.watched, func(w *world, c *loginConfig) { c.Secrets = &failingSecrets{folder: w.secrets} })
	ended := s.ask(t.Context())
	_, page := get(t, (<-s.requests).answer(nil))
	assert.Check(t, strings.HasPrefix(heading(page), "You are not logged in"), "the page says %q", heading(page))
	assert.Check(t, (<-ended) != nil, "a login whose token was not kept succeeded")
}

// TestRefreshOutlivesItsCall: the server's response invalidates the old refresh token, so the new
// one is stored even if the call has ended.
func TestRefreshOutlivesItsCall(t *testing.T) {
	s := newStage(t)
	s.logIn()
	s.clock.pass(beyondTokenLife)
	asked, answer := make(chan struct{}), make(chan struct{})
	s.fake.setHandler("/token", func(w http.ResponseWriter, _ *http.Request) {
		close(asked)
		<-answer
		writeJSON(w, http.StatusOK, map[string]any{"access_token": "second", "refresh_token": "second", "token_type": "Bearer", "expires_in": 600})
	})
	ctx, leave := context.WithCancel(t.Context())
	ended := s.ask(ctx)
	<-asked
	leave()
	assert.Check(t, (<-ended) != nil, "a call that was left succeeded")
	close(answer)
	if err := s.logins.Close(); err != nil { // waits for it
		t.Fatal(err)
	}
	assert.Check(t, is.Equal(s.token(), "second"))
}

// TestClock tests tokens with a changing clock. A clock set back or far ahead loses no token.
func TestClock(t *testing.T) {
	s := newStage(t)
	s.logIn()
	for _, jump := range []time.Duration{-time.Hour, 10 * 365 * 24 * time.Hour, 0} {
		s.clock.ahead.Store(int64(jump))
		assert.Check(t, s.authorize(t.Context()), jump)
	}
	n := s.windows.Load()
	assert.Check(t, n == 1, "%d windows", n)
}

// TestOddRecords: an unreadable record counts as absent; a failing store is reported.
func TestOddRecords(t *testing.T) {
	s := newStage(t)
	s.logIn()
	for id := range s.secrets.all() {
		assert.NilError(t, s.secrets.Update(t.Context(), id, func([]byte) ([]byte, error) { return []byte("{"), nil }))
	}
	s.logIn()
	broken := s.open(func(_ *world, c *loginConfig) { c.Secrets = brokenSecrets{} })
	req, _ := http.NewRequest(http.MethodGet, s.recipe.HTTP.BaseURL, nil)
	e := ends(t, broken.Authorize(t.Context(), s.recipe, req), aai.AutomationFailed)
	assert.Assert(t, !strings.Contains(e.Message, "canary"), e.Message)
	assert.Assert(t, is.Contains(e.Hint, "keychain status"), e.Message)
	_, err := broken.Status(t.Context(), "")
	assert.Check(t, err != nil, "a store that fails has a status")
}

type brokenSecrets struct{}

var _ oauth.Secrets = brokenSecrets{}

func (brokenSecrets) Get(ctx, string) ([]byte, error) { return nil, errors.New("canary") }
func (brokenSecrets) Update(ctx, string, func([]byte) ([]byte, error)) error {
	return errors.New("canary")
}
func (brokenSecrets) Names(ctx, string) ([]string, error) { return nil, errors.New("canary") }
