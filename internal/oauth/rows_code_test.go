package oauth_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/oauth2"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// through is a transport that a test can inspect.
type through func(r *http.Request) (*http.Response, error)

func (f through) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// formOfRequest reads the form of a request, and leaves it unsent.
func formOfRequest(t *testing.T, r *http.Request) url.Values {
	t.Helper()
	if r.Body == nil {
		return nil
	}
	b, err := io.ReadAll(r.Body)
	assert.Check(t, err)
	r.Body = io.NopCloser(strings.NewReader(string(b)))
	form, _ := url.ParseQuery(string(b))
	return form
}

// TestRow03WrongVerifier: the real server refuses a code with a modified verifier, so it does
// check the verifier.
func TestRow03WrongVerifier(t *testing.T) {
	w := newWorld(t, testkit.OIDCOptions{}, func(_ *world, c *loginConfig) {
		c.Client = &http.Client{Transport: through(func(r *http.Request) (*http.Response, error) {
			if form := formOfRequest(t, r); form.Get("code_verifier") != "" {
				form.Set("code_verifier", strings.Repeat("x", 43))
				r.Body, r.ContentLength = io.NopCloser(strings.NewReader(form.Encode())), int64(len(form.Encode()))
			}
			return http.DefaultTransport.RoundTrip(r)
		})}
	})
	e := w.fails(t.Context(), aai.AuthInvalid)
	assert.Check(t, is.Contains(e.Message, "invalid_grant"))
}

func TestRow03FreshS256(t *testing.T) {
	s := newStage(t)
	seen := make(map[string]bool)
	for range 2 {
		ended := s.ask(t.Context())
		at := <-s.requests
		challenge := at.query.Get("code_challenge")
		assert.Check(t, is.Equal(at.query.Get("code_challenge_method"), "S256"), at.query)
		assert.Check(t, is.Equal(len(challenge), 43), at.query)
		_, _ = get(t, at.answer(nil))
		assert.NilError(t, <-ended)
		forms := s.fake.asked("/token")
		verifier := forms[len(forms)-1].Get("code_verifier")
		assert.Assert(t, len(verifier) >= 43, "the verifier %q is not that of the challenge %q", verifier, challenge)
		assert.Assert(t, len(verifier) <= 128, "the verifier %q is not that of the challenge %q", verifier, challenge)
		assert.Equal(t, oauth2.S256ChallengeFromVerifier(verifier), challenge, "%q", verifier)
		for _, once := range []string{verifier, at.query.Get("state")} {
			assert.Check(t, !seen[once], "%q was used twice", once)
			seen[once] = true
		}
		_, err := s.logins.Logout(t.Context(), strings.TrimPrefix(s.fake.URL, "http://"))
		assert.NilError(t, err)
	}
}

func TestRow04NoPKCE(t *testing.T) {
	for name, change := range map[string]func(*fake, *aai.AuthRecipe){
		"metadata without the field":                func(f *fake, _ *aai.AuthRecipe) { delete(f.metadata, "code_challenge_methods_supported") },
		"metadata with plain alone":                 func(f *fake, _ *aai.AuthRecipe) { f.metadata["code_challenge_methods_supported"] = []string{"plain"} },
		"no metadata, and the descriptor is silent": func(f *fake, a *aai.AuthRecipe) { f.metadata, a.PKCE = nil, "" },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			change(s.fake, s.recipe.HTTP.Auth)
			e := ends(t, s.authorize(t.Context()), aai.AuthInvalid)
			if !strings.Contains(e.Message, "PKCE") || s.windows.Load() != 0 {
				t.Errorf("%v, with %d windows", e.Message, s.windows.Load())
			}
		})
	}
	s := newStage(t, func(f *fake) { f.metadata = nil })
	s.logIn() // without metadata the descriptor decides
}

// TestRow17OneCodeOnce: a code is sent once, whatever the server answers.
func TestRow17OneCodeOnce(t *testing.T) {
	for _, answer := range []struct {
		status int
		body   map[string]string
		code   aai.Code
	}{
		{401, map[string]string{"error": "invalid_client"}, aai.AuthInvalid},
		{400, map[string]string{"error": "invalid_request"}, aai.AuthInvalid},
		{400, map[string]string{"error": "use_dpop_nonce"}, aai.AuthInvalid},
		{503, map[string]string{"error": "temporarily_unavailable"}, aai.AppNotRunning},
		{200, map[string]string{"token_type": "Bearer"}, aai.AuthInvalid},
		{200, map[string]string{"access_token": "x", "token_type": "mac"}, aai.AuthInvalid},
		{200, map[string]string{"access_token": "x", "token_type": "DPoP"}, aai.AuthInvalid},
		{200, map[string]string{"access_token": "x\ny", "token_type": "Bearer"}, aai.AuthInvalid},
	} {
		s := newStage(t)
		s.fake.setHandler("/token", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("DPoP-Nonce", "n")
			writeJSON(w, answer.status, answer.body)
		})
		ended := s.ask(t.Context())
		status, page := get(t, (<-s.requests).answer(nil))
		if status != http.StatusOK || !strings.HasPrefix(heading(page), "You are not logged in") {
			t.Errorf("%v: the page says %q", answer, heading(page))
		}
		ends(t, <-ended, answer.code)
		forms := s.fake.asked("/token")
		assert.Assert(t, is.Len(forms, 1), answer)
		assert.Equal(t, forms[0].Get("client_id"), "aai-gateway", answer)
		assert.Assert(t, !forms[0].Has("client_secret"), "%v: the code was presented %d times: %v", answer, len(forms), forms)
		for id, kept := range s.secrets.all() {
			assert.Check(t, !strings.HasPrefix(id, "login/token/"), "%v: kept is %s", answer, kept)
		}
	}
}

// TestConfidentialClient: a configured client secret goes from the keychain into the form, and
// nowhere else.
func TestConfidentialClient(t *testing.T) {
	w := newWorld(t, testkit.OIDCOptions{}, func(w *world, c *loginConfig) {
		c.Sites = siteOf(w, "confidential")
		assert.NilError(t, w.secrets.Update(t.Context(), "things-secret", func([]byte) ([]byte, error) { return []byte("confidential's secret: 100%\n"), nil }))
	})
	w.works()
	w.clock.pass(beyondTokenLife)
	w.works() // refreshed
	for id, kept := range w.secrets.all() {
		assert.Check(t, id == "things-secret" || !strings.Contains(kept, "100%"), "%s holds the client's secret", id)
	}
	assert.NilError(t, w.secrets.Update(t.Context(), "things-secret", func([]byte) ([]byte, error) { return nil, nil }))
	w.clock.pass(beyondTokenLife)
	w.fails(t.Context(), aai.AuthInvalid)
}

// TestLoginRefused: after a refusal at the page, no other window opens for a while, unless the
// user requests one.
func TestLoginRefused(t *testing.T) {
	s := newStage(t)
	ended := s.ask(t.Context())
	_, page := get(t, (<-s.requests).answer(url.Values{"code": nil, "error": {"access_denied"}, "error_description": {"<script>no</script>"}}))
	assert.Assert(t, !strings.Contains(page, "<script>"), "the page is %s", page)
	assert.Assert(t, is.Contains(page, "&lt;script&gt;"))
	ends(t, <-ended, aai.AuthDenied)
	ends(t, s.authorize(t.Context()), aai.AuthDenied)
	n := s.windows.Load()
	assert.Check(t, n == 1, "%d windows were opened", n)
	again := make(chan error, 1)
	go func() { again <- s.logins.Login(t.Context(), s.recipe) }()
	_, _ = get(t, (<-s.requests).answer(nil))
	assert.Check(t, <-again)
	assert.Check(t, s.authorize(t.Context()))
}

// TestQueryOfTheEndpoint: the query of the authorization endpoint is kept.
func TestQueryOfTheEndpoint(t *testing.T) {
	s := newStage(t, func(f *fake) { f.metadata["authorization_endpoint"] = f.URL + "/authorize?tenant=a%26b" })
	s.recipe.HTTP.Auth.AuthorizationEndpoint += "?tenant=a%26b"
	s.recipe.HTTP.Auth.Scopes = []string{"offline_access", "mail"}
	ended := s.ask(t.Context())
	at := <-s.requests
	want := map[string]string{
		"tenant": "a&b", "scope": "mail offline_access", "prompt": "consent", "response_type": "code", "client_id": "aai-gateway",
		"aai_tools": "list", "resource": s.fake.URL,
	}
	for name, value := range want {
		assert.Check(t, is.Equal(at.query.Get(name), value), name)
		assert.Check(t, is.Len(at.query[name], 1), name)
	}
	_, _ = get(t, at.answer(nil))
	assert.Check(t, <-ended)
	raw, _ := json.Marshal(s.fake.asked("/token"))
	assert.Check(t, is.Contains(string(raw), `"redirect_uri":["`+at.redirect.String()+`"]`), "the code was exchanged with %s", raw)
}
