package oauth_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

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
		if n := s.tokens(); n != i+2 {
			t.Fatalf("after %s there are %d tokens", c.name, n)
		}
	}
	s.recipe.HTTP.Auth.Scopes = []string{"b", "a"} // in another order
	if err := s.authorize(t.Context()); err != nil {
		t.Error(err)
	}
	s.recipe.App = "org.example.another" // the app's id is not part of it
	if err := s.authorize(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestThePageDoesNotLie: the page shows success only after the token is stored.
func TestThePageDoesNotLie(t *testing.T) {
	s := newStage(t)
	s.logins = s.open(s.watched, func(w *world, c *loginConfig) { c.Secrets = &failingSecrets{folder: w.secrets} })
	ended := s.ask(t.Context())
	if _, page := get(t, (<-s.requests).answer(nil)); !strings.HasPrefix(heading(page), "You are not logged in") {
		t.Errorf("the page says %q", heading(page))
	}
	if err := <-ended; err == nil {
		t.Error("a login whose token was not kept succeeded")
	}
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
	if err := <-ended; err == nil {
		t.Error("a call that was left succeeded")
	}
	close(answer)
	if err := s.logins.Close(); err != nil { // waits for it
		t.Fatal(err)
	}
	if got := s.token(); got != "second" {
		t.Errorf("kept is %s", got)
	}
}

// TestClock tests tokens with a changing clock. A clock set back or far ahead loses no token.
func TestClock(t *testing.T) {
	s := newStage(t)
	s.logIn()
	for _, jump := range []time.Duration{-time.Hour, 10 * 365 * 24 * time.Hour, 0} {
		s.clock.ahead.Store(int64(jump))
		if err := s.authorize(t.Context()); err != nil {
			t.Errorf("after %s: %v", jump, err)
		}
	}
	if n := s.windows.Load(); n != 1 {
		t.Errorf("%d windows", n)
	}
}

// TestOddRecords: an unreadable record counts as absent; a failing store is reported.
func TestOddRecords(t *testing.T) {
	s := newStage(t)
	s.logIn()
	for id := range s.secrets.all() {
		if err := s.secrets.Update(t.Context(), id, func([]byte) ([]byte, error) { return []byte("{"), nil }); err != nil {
			t.Fatal(err)
		}
	}
	s.logIn()
	broken := s.open(func(_ *world, c *loginConfig) { c.Secrets = brokenSecrets{} })
	req, _ := http.NewRequest(http.MethodGet, s.recipe.HTTP.BaseURL, nil)
	if e := ends(t, broken.Authorize(t.Context(), s.recipe, req), aai.AutomationFailed); strings.Contains(e.Message, "canary") || !strings.Contains(e.Hint, "keychain status") {
		t.Errorf("%s; %s", e.Message, e.Hint)
	}
	if _, err := broken.Status(t.Context(), ""); err == nil {
		t.Error("a store that fails has a status")
	}
}

type brokenSecrets struct{}

var _ oauth.Secrets = brokenSecrets{}

func (brokenSecrets) Get(ctx, string) ([]byte, error) { return nil, errors.New("canary") }
func (brokenSecrets) Update(ctx, string, func([]byte) ([]byte, error)) error {
	return errors.New("canary")
}
func (brokenSecrets) Names(ctx, string) ([]string, error) { return nil, errors.New("canary") }
