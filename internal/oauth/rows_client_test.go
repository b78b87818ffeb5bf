package oauth_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/oauth"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// TestRow21Registration: the real server registers the gateway once, for all callers.
func TestRow21Registration(t *testing.T) {
	w := newWorld(t, testkit.OIDCOptions{Registration: true})
	w.works()
	id := clientOf(w)
	if id == "" || id == "aai-gateway" {
		t.Fatalf("the client is %q", id)
	}
	if _, err := w.logins.Logout(t.Context(), strings.TrimPrefix(w.api.URL, "http://")); err != nil {
		t.Fatal(err)
	}
	other := w.open()
	if status, err := w.call(t.Context(), other, http.MethodGet); err != nil || status != http.StatusOK || clientOf(w) != id {
		t.Errorf("%d, %v; the client is %q after %q", status, err, clientOf(w), id)
	}
}

// clientOf returns the client id of the stored token.
func clientOf(w *world) string {
	states, err := w.logins.Status(w.t.Context(), "")
	if err != nil || len(states) != 1 {
		w.t.Fatalf("%+v, %v", states, err)
	}
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
	if clientOf(s.world) != "registered-1" || len(bodies) != 1 {
		t.Errorf("the client is %q, after %d registrations", clientOf(s.world), len(bodies))
	}
	var asked map[string]any
	if err := json.Unmarshal([]byte(bodies[0]), &asked); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"application_type": "native", "token_endpoint_auth_method": "none", "response_types": "[code]",
		"redirect_uris": "[http://127.0.0.1/callback http://[::1]/callback]", "grant_types": "[authorization_code refresh_token]",
	} {
		if fmt.Sprint(asked[name]) != want {
			t.Errorf("%s is %v", name, asked[name])
		}
	}
	// After the server forgets the client, the next login registers again.
	good := s.fake.handlerFor("/token")
	s.fake.setHandler("/token", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, 401, map[string]string{"error": "invalid_client"})
	})
	_, err := s.logins.Logout(t.Context(), strings.TrimPrefix(s.fake.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	ended := s.ask(t.Context())
	_, _ = get(t, (<-s.requests).answer(nil))
	if e := ends(t, <-ended, aai.AuthInvalid); !strings.Contains(e.Hint, "--client-id") {
		t.Errorf("the hint is %q", e.Hint)
	}
	s.fake.setHandler("/token", good)
	s.clock.pass(beyondTokenLife)
	s.logIn()
	if len(bodies) != 2 {
		t.Errorf("%d registrations", len(bodies))
	}
	for _, bad := range []func(*fake){
		register(400, map[string]any{"error": "invalid_redirect_uri"}), register(201, map[string]any{}),
		register(201, map[string]any{"client_id": "x", "token_endpoint_auth_method": "client_secret_basic"}), register(201, map[string]any{"client_id": "x\ny"}),
	} {
		s := newStage(t, bad)
		ends(t, s.authorize(t.Context()), aai.AuthInvalid)
		if s.windows.Load() != 0 {
			t.Error("a window was opened")
		}
	}
}

// TestRow22Document: the real server reads the gateway's own document.
func TestRow22Document(t *testing.T) {
	const address = "https://gateway.example/client.json"
	raw, err := oauth.ClientMetadataDocument(address)
	if err != nil || len(raw) > 5<<10 {
		t.Fatalf("%d bytes, %v", len(raw), err)
	}
	var document map[string]any
	if err := json.Unmarshal(raw, &document); err != nil || document["client_id"] != address || document["token_endpoint_auth_method"] != "none" {
		t.Fatalf("%v, %v", document, err)
	}
	w := newWorld(t, testkit.OIDCOptions{Document: map[string]any{address: document}, Registration: true}, func(_ *world, c *loginConfig) { c.ClientDocumentURL = address })
	w.works()
	if clientOf(w) != address {
		t.Errorf("the client is %q", clientOf(w))
	}
	for _, bad := range []string{
		"http://gateway.example/client.json", "https://gateway.example", "https://gateway.example/", "https://gateway.example/a/../client.json",
		"https://gateway.example/a/%2e%2e/client.json", "https://gateway.example/./client.json", "https://gateway.example/c#f", "https://gateway.example/c#",
		"https://u@gateway.example/c", "https:///c", "",
	} {
		if err := oauth.CheckDocumentAddress(bad); err == nil {
			t.Errorf("%q passes", bad)
		}
		if _, err := oauth.ClientMetadataDocument(bad); err == nil {
			t.Errorf("there is a document for %q", bad)
		}
	}
	if err := oauth.CheckDocumentAddress("https://gateway.example/oauth/client.json?v=1"); err != nil {
		t.Error(err)
	}
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
		if got := clientOf(s.world); got != want {
			t.Errorf("the client is %q, expected %q", got, want)
		}
		for _, form := range s.fake.asked("/token") {
			if form.Get("client_id") == "" {
				t.Errorf("a request for a token has no client_id: %v", form)
			}
		}
		s.clock.pass(beyondTokenLife)
		if err := s.authorize(t.Context()); err != nil { // refreshed, with the same client
			t.Error(err)
		}
		forms := s.fake.asked("/token")
		if last := forms[len(forms)-1]; last.Get("grant_type") != "refresh_token" || last.Get("client_id") != want || last.Get("resource") != s.fake.URL {
			t.Errorf("refreshed with %v", last)
		}
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
	if want := fmt.Sprintf("http://localhost:%d/callback", port); at.redirect.String() != want {
		t.Errorf("the address to come back to is %s, expected %s", at.redirect, want)
	}
	if where := listening(t, fmt.Sprint(port)); len(where) != 1 || where[0] != "0100007F" {
		t.Errorf("port %d is listened at by %q", port, where)
	}
	// A second login that needs the same port reports that.
	second := newStage(t)
	second.logins = second.open(second.watched, func(_ *world, c *loginConfig) {
		c.Sites = map[string]oauth.SiteSettings{second.fake.URL: {RedirectPort: port}}
	})
	if e := ends(t, second.authorize(t.Context()), aai.AuthRequired); !strings.Contains(e.Message, fmt.Sprint(port)) {
		t.Errorf("%v", e.Message)
	}
	back := at.answer(nil)
	_, _ = get(t, strings.Replace(back, "localhost", "127.0.0.1", 1), func(r *http.Request) { r.Host = fmt.Sprintf("localhost:%d", port) })
	if err := <-ended; err != nil {
		t.Error(err)
	}
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
