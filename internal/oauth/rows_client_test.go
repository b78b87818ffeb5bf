package oauth_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/oauth"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// TestRow21Registration: the real server registers the gateway once, for all callers.
func TestRow21Registration(t *testing.T) {
	w := newWorld(t, testkit.OIDCOptions{Registration: true})
	w.works()
	id := clientOf(w)
	assert.Assert(t, id != "", "the client is %q", id)
	assert.Assert(t, id != "aai-gateway", "the client is %q", id)
	_, err := w.logins.Logout(t.Context(), strings.TrimPrefix(w.api.URL, "http://"))
	assert.NilError(t, err)
	other := w.open()
	status, err := w.call(t.Context(), other, http.MethodGet)
	assert.NilError(t, err)
	assert.Equal(t, status, http.StatusOK)
	assert.Equal(t, clientOf(w), id)
}

// clientOf returns the client id of the stored token.
func clientOf(w *world) string {
	states, err := w.logins.Status(w.t.Context(), "")
	assert.NilError(w.t, err)
	assert.Assert(w.t, is.Len(states, 1))
	return states[0].Client
}

func TestRow21HowItIsAsked(t *testing.T) {
	var bodies []string
	var mu sync.Mutex
	register := func(status int, answer map[string]any) func(f *fake) {
		return func(f *fake) {
			f.metadata["registration_endpoint"] = f.URL + "/register"
			f.handle["/register"] = func(w http.ResponseWriter, r *http.Request) {
				b := make([]byte, 4096)
				n, _ := r.Body.Read(b)
				mu.Lock()
				bodies = append(bodies, string(b[:n]))
				mu.Unlock()
				writeJSON(w, status, answer)
			}
		}
	}
	s := newStage(t, register(201, map[string]any{"client_id": "registered-1"}))
	s.logIn()
	assert.Check(t, is.Equal(clientOf(s.world), "registered-1"))
	assert.Check(t, is.Len(bodies, 1))
	var asked map[string]any
	assert.NilError(t, json.Unmarshal([]byte(bodies[0]), &asked))
	for name, want := range map[string]string{
		"application_type": "native", "token_endpoint_auth_method": "none", "response_types": "[code]",
		"redirect_uris": "[http://127.0.0.1/callback http://[::1]/callback]", "grant_types": "[authorization_code refresh_token]",
	} {
		assert.Check(t, is.Equal(fmt.Sprint(asked[name]), want), "%s %v", name, asked[name])
	}
	// After the server forgets the client, the next login registers again.
	good := s.fake.handlerFor("/token")
	s.fake.setHandler("/token", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, 401, map[string]string{"error": "invalid_client"})
	})
	_, err := s.logins.Logout(t.Context(), strings.TrimPrefix(s.fake.URL, "http://"))
	assert.NilError(t, err)
	ended := s.ask(t.Context())
	_, _ = get(t, (<-s.requests).answer(nil))
	assert.Check(t, is.Contains(ends(t, <-ended, aai.AuthInvalid).Hint, "--client-id"))
	s.fake.setHandler("/token", good)
	s.clock.pass(beyondTokenLife)
	s.logIn()
	assert.Check(t, is.Len(bodies, 2))
	for _, bad := range []func(*fake){
		register(400, map[string]any{"error": "invalid_redirect_uri"}), register(201, map[string]any{}),
		register(201, map[string]any{"client_id": "x", "token_endpoint_auth_method": "client_secret_basic"}), register(201, map[string]any{"client_id": "x\ny"}),
	} {
		s := newStage(t, bad)
		ends(t, s.authorize(t.Context()), aai.AuthInvalid)
		assert.Check(t, s.windows.Load() == 0, "a window was opened")
	}
}

// TestRow22Document: the real server reads the gateway's own document.
func TestRow22Document(t *testing.T) {
	const address = "https://gateway.example/client.json"
	raw, err := oauth.ClientMetadataDocument(address)
	assert.NilError(t, err, "%d", len(raw))
	assert.Assert(t, len(raw) <= 5<<10, "%d bytes, %v", len(raw), err)
	var document map[string]any
	err = json.Unmarshal(raw, &document)
	assert.NilError(t, err, document)
	assert.Equal(t, document["client_id"], address, document)
	assert.Equal(t, document["token_endpoint_auth_method"], "none", document)
	w := newWorld(t, testkit.OIDCOptions{Document: map[string]any{address: document}, Registration: true}, func(_ *world, c *loginConfig) { c.ClientDocumentURL = address })
	w.works()
	assert.Check(t, is.Equal(clientOf(w), address))
	for _, bad := range []string{
		"http://gateway.example/client.json", "https://gateway.example", "https://gateway.example/", "https://gateway.example/a/../client.json",
		"https://gateway.example/a/%2e%2e/client.json", "https://gateway.example/./client.json", "https://gateway.example/c#f", "https://gateway.example/c#",
		"https://u@gateway.example/c", "https:///c", "",
	} {
		assert.Check(t, oauth.CheckDocumentAddress(bad) != nil, "%q passes", bad)
		_, err := oauth.ClientMetadataDocument(bad)
		assert.Check(t, err != nil, "there is a document for %q", bad)
	}
	assert.Check(t, oauth.CheckDocumentAddress("https://gateway.example/oauth/client.json?v=1"))
}

// TestClientOrder checks the order of the client ids, from the user's setting to the protocol's
// constant.
func TestClientOrder(t *testing.T) {
	const document = "https://gateway.example/client.json"
	s := newStage(t, func(f *fake) {
		f.metadata["client_id_metadata_document_supported"] = true
		f.metadata["registration_endpoint"] = f.URL + "/register"
		f.handle["/register"] = func(w http.ResponseWriter, _ *http.Request) {
			writeJSON(w, 201, map[string]any{"client_id": "registered"})
		}
	})
	host := strings.TrimPrefix(s.fake.URL, "http://")
	is := func(want string, change func(*loginConfig)) {
		t.Helper()
		s.secrets = &folder{path: t.TempDir()}
		s.logins = s.open(s.watched, func(_ *world, c *loginConfig) { change(c) })
		s.logIn()
		assert.Check(t, is.Equal(clientOf(s.world), want))
		for _, form := range s.fake.asked("/token") {
			assert.Check(t, form.Get("client_id") != "", "a request for a token has no client_id: %v", form)
		}
		s.clock.pass(beyondTokenLife)
		if err := s.authorize(t.Context()); err != nil { // refreshed, with the same client
			t.Error(err)
		}
		forms := s.fake.asked("/token")
		last := forms[len(forms)-1]
		assert.Check(t, is.Equal(last.Get("grant_type"), "refresh_token"), last)
		assert.Check(t, is.Equal(last.Get("client_id"), want), last)
		assert.Check(t, is.Equal(last.Get("resource"), s.fake.URL), last)
	}
	all := func(c *loginConfig) {
		c.ClientDocumentURL = document
		c.Sites = map[string]oauth.SiteSettings{s.fake.URL: {ClientID: "by-issuer"}, host: {ClientID: "by-host"}}
	}
	s.recipe.HTTP.Auth.ClientID = "of-the-descriptor"
	is("by-issuer", all)
	is("by-host", func(c *loginConfig) { all(c); delete(c.Sites, s.fake.URL) })
	is("of-the-descriptor", func(c *loginConfig) { c.ClientDocumentURL = document })
	s.recipe.HTTP.Auth.ClientID = ""
	is(document, func(c *loginConfig) { c.ClientDocumentURL = document })
	is("registered", func(*loginConfig) {})
	delete(s.fake.metadata, "registration_endpoint")
	is("aai-gateway", func(*loginConfig) {})
	s.fake.metadata = nil
	is("aai-gateway", func(c *loginConfig) { c.ClientDocumentURL = document })

	// The user's setting for this app takes precedence.
	s.logins = s.open(s.watched, func(_ *world, c *loginConfig) { all(c) })
	if err := s.logins.SetClient(t.Context(), s.recipe, "typed", "its secret"); err != nil {
		t.Fatal(err)
	}
	if err := s.logins.SetClient(t.Context(), s.recipe, "two words", ""); err == nil {
		t.Error("a client id of two words is kept")
	}
	ended := s.ask(t.Context())
	if at := <-s.requests; at.query.Get("client_id") != "typed" {
		t.Errorf("the client is %q", at.query.Get("client_id"))
	} else {
		_, _ = get(t, at.answer(nil))
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	forms := s.fake.asked("/token")
	if last := forms[len(forms)-1]; last.Get("client_id") != "typed" || last.Get("client_secret") != "its secret" {
		t.Errorf("the code was exchanged with %v", last)
	}
	// It survives a logout.
	if _, err := s.logins.Logout(t.Context(), host); err != nil {
		t.Fatal(err)
	}
	s.logIn()
	if got := clientOf(s.world); got != "typed" {
		t.Errorf("after a logout the client is %q", got)
	}
}

// TestExactRedirect: for a server that compares redirects exactly, the user sets host and port;
// the path is the protocol's.
func TestExactRedirect(t *testing.T) {
	s := newStage(t, func(f *fake) { f.metadata = nil })
	host := strings.TrimPrefix(s.fake.URL, "http://")
	port := freePort(t)
	s.logins = s.open(s.watched, func(_ *world, c *loginConfig) {
		c.Sites = map[string]oauth.SiteSettings{host: {RedirectHost: "localhost", RedirectPort: port}}
	})
	ended := s.ask(t.Context())
	at := <-s.requests
	want := fmt.Sprintf("http://localhost:%d/callback", port)
	assert.Check(t, is.Equal(at.redirect.String(), want), "the address to come back to is %s, expected %s", at.redirect, want)
	where := listening(t, fmt.Sprint(port))
	assert.Assert(t, is.Len(where, 1), "%d", port)
	assert.Equal(t, where[0], "0100007F", "%d", port)
	// A second login that needs the same port reports that.
	second := newStage(t)
	second.logins = second.open(second.watched, func(_ *world, c *loginConfig) {
		c.Sites = map[string]oauth.SiteSettings{second.fake.URL: {RedirectPort: port}}
	})
	assert.Check(t, is.Contains(ends(t, second.authorize(t.Context()), aai.AuthRequired).Message, fmt.Sprint(port)))
	back := at.answer(nil)
	_, _ = get(t, strings.Replace(back, "localhost", "127.0.0.1", 1), func(r *http.Request) { r.Host = fmt.Sprintf("localhost:%d", port) })
	assert.Check(t, <-ended)
}

// TestRow25Pushed: the real server accepts only pushed parameters, and the browser sees none of
// them.
func TestRow25Pushed(t *testing.T) {
	for name, l := range map[string]testkit.OIDCOptions{"plain": {PAR: true}, "with proofs and nonces": {PAR: true, DPoP: true, Nonce: true}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, l)
			w.works()
			w.visited.Range(func(address, _ any) bool {
				if query := parseAuthorizationRequest(t, address.(string)).query; len(query) != 2 || query.Get("client_id") != "aai-gateway" || !strings.HasPrefix(query.Get("request_uri"), "urn:") {
					t.Errorf("the page was asked for with %v", query)
				}
				return true
			})
		})
	}
	s := newStage(t, func(f *fake) {
		f.metadata["require_pushed_authorization_requests"] = true
		f.metadata["pushed_authorization_request_endpoint"] = f.URL + "/push"
		f.handle["/push"] = func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, 201, map[string]any{}) }
	})
	ends(t, s.authorize(t.Context()), aai.AuthInvalid)
}
