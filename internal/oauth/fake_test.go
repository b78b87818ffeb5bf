package oauth_test

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// fake is an authorization server that a test programs, also with invalid behaviour.
type fake struct {
	*httptest.Server
	t        *testing.T
	metadata map[string]any // nil: it has none
	handle   map[string]http.HandlerFunc

	mu       sync.Mutex
	requests []*http.Request // with their forms, in order
}

func startFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{t: t, handle: make(map[string]http.HandlerFunc)}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	f.metadata = map[string]any{
		"issuer": f.URL, "authorization_endpoint": f.URL + "/authorize", "token_endpoint": f.URL + "/token",
		"code_challenge_methods_supported": []string{"S256"},
	}
	f.handle["/.well-known/oauth-authorization-server"] = func(w http.ResponseWriter, _ *http.Request) {
		if f.metadata == nil {
			http.Error(w, "no", http.StatusNotFound)
			return
		}
		writeJSON(w, http.StatusOK, f.metadata)
	}
	f.handle["/token"] = func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]any{"access_token": "an-access-token", "token_type": "Bearer", "expires_in": 600, "refresh_token": "a-refresh-token"})
	}
	return f
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	f.mu.Lock()
	f.requests = append(f.requests, r)
	handle := f.handle[r.URL.Path]
	f.mu.Unlock()
	if handle == nil {
		http.NotFound(w, r)
		return
	}
	handle(w, r)
}

// setHandler sets the handler of a path.
func (f *fake) setHandler(path string, handle http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.handle[path] = handle
}

// handlerFor returns the current handler of a path.
func (f *fake) handlerFor(path string) http.HandlerFunc {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.handle[path]
}

// asked returns the forms of the requests for a path.
func (f *fake) asked(path string) []url.Values {
	f.mu.Lock()
	defer f.mu.Unlock()
	var forms []url.Values
	for _, r := range f.requests {
		if r.URL.Path == path {
			forms = append(forms, r.Form)
		}
	}
	return forms
}

func (f *fake) recipe() *aai.Recipe {
	return &aai.Recipe{
		App: "org.example.fake", Tool: "list", Platform: "web",
		HTTP: &aai.HTTPRecipe{BaseURL: f.URL + "/v1", Method: http.MethodGet, Auth: &aai.AuthRecipe{
			Kind: aai.AuthOAuth2, AuthorizationEndpoint: f.URL + "/authorize", TokenEndpoint: f.URL + "/token", PKCE: "S256",
		}},
	}
}

// authorizationRequest is the address that a browser was sent to.
type authorizationRequest struct {
	address  *url.URL
	query    url.Values
	redirect *url.URL
}

func parseAuthorizationRequest(t *testing.T, address string) authorizationRequest {
	t.Helper()
	u, err := url.Parse(address)
	assert.NilError(t, err)
	s := authorizationRequest{address: u, query: u.Query()}
	s.redirect, err = url.Parse(s.query.Get("redirect_uri"))
	assert.NilError(t, err)
	return s
}

// answer returns the redirect of a correct server.
func (s authorizationRequest) answer(more url.Values) string {
	query := url.Values{"code": {"a-code"}, "state": {s.query.Get("state")}}
	for name, values := range more {
		query[name] = values
		if values == nil {
			delete(query, name)
		}
	}
	back := *s.redirect
	back.RawQuery = query.Encode()
	return back.String()
}

// get sends a request as a browser does.
func get(t *testing.T, address string, changes ...func(*http.Request)) (status int, page string) {
	t.Helper()
	p := testkit.NewBrowserUser()
	defer p.Client.CloseIdleConnections()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, address, nil)
	assert.NilError(t, err)
	for _, change := range changes {
		change(r)
	}
	response, err := p.Client.Do(r)
	assert.NilError(t, err)
	defer response.Body.Close() //nolint:errcheck // it was only read
	b := make([]byte, 64<<10)
	n := 0
	for {
		m, err := response.Body.Read(b[n:])
		n += m
		if err != nil || n == len(b) {
			return response.StatusCode, string(b[:n])
		}
	}
}

// fakeServerWorld is a world with a fake server and a browser that the test controls.
type fakeServerWorld struct {
	*world
	fake     *fake
	requests chan authorizationRequest
}

func newStage(t *testing.T, changes ...func(*fake)) *fakeServerWorld {
	t.Helper()
	f := startFake(t)
	for _, change := range changes {
		change(f)
	}
	s := &fakeServerWorld{fake: f, requests: make(chan authorizationRequest, 100)}
	s.world = &world{t: t, as: &authorizer{&testkit.OIDCServer{Issuer: f.URL}}, recipe: f.recipe(), secrets: &folder{path: t.TempDir()}}
	s.logins = s.open(s.watched)
	return s
}

func (s *fakeServerWorld) watched(_ *world, c *loginConfig) {
	c.Browser = func(_ context.Context, address string) error {
		s.windows.Add(1)
		s.visited.Store(address, true)
		s.requests <- parseAuthorizationRequest(s.t, address)
		return nil
	}
}

// askPatience limits the wait of a call for its login, so that a refused answer fails the test
// instead of blocking it.
const askPatience = 10 * time.Second

// ask begins a call's Authorize, and returns its error.
func (s *fakeServerWorld) ask(ctx context.Context) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- s.authorize(ctx) }()
	return ended
}

func (s *fakeServerWorld) authorize(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.recipe.HTTP.BaseURL+"/things", nil)
	if err != nil {
		return err
	}
	ctx = gateway.WithProgress(ctx, func(_, _ float64, message string) { _, _ = fmt.Fprintln(&s.said, message) })
	if err := s.logins.Authorize(ctx, s.recipe, req); err != nil {
		return err
	}
	if req.Header.Get("Authorization") == "" {
		return fmt.Errorf("nothing was added to the request")
	}
	return nil
}

// logIn runs an entire login.
func (s *fakeServerWorld) logIn() {
	s.t.Helper()
	ended := s.ask(s.t.Context())
	status, page := get(s.t, (<-s.requests).answer(nil))
	assert.Equal(s.t, status, http.StatusOK, "the last page is %d: %s", status, page)
	assert.NilError(s.t, <-ended)
}

// ends fails the test unless the error has the code.
func ends(t *testing.T, err error, code aai.Code) aai.Error {
	t.Helper()
	assert.Assert(t, err != nil, "it succeeded; expected %s", code)
	e := aai.AsError(err)
	assert.Equal(t, e.Code, code, "%v %q", e, e.Delivery)
	assert.Assert(t, e.RetrySafe(), "it ended with %v (delivery %q); expected %s", e, e.Delivery, code)
	return *e
}

var headerOf = regexp.MustCompile(`(?s)<h1>(.*?)</h1>`)

// heading returns the heading of a page.
func heading(page string) string {
	found := headerOf.FindStringSubmatch(page)
	if found == nil {
		return ""
	}
	return html.UnescapeString(strings.TrimSpace(found[1]))
}
