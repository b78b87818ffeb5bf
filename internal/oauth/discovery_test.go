package oauth_test

import (
	"context"
	"net/http"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// mcpRecipe returns a recipe of an MCP server without login endpoints in the descriptor.
func (f *fake) mcpRecipe() *aai.Recipe {
	server := &aai.MCPRecipe{URL: f.URL + "/v1"}
	return &aai.Recipe{Kind: "mcp", App: "org.example.fake", Platform: "web", HTTP: server.Login()}
}

// The first request goes out without a token. If the server requires a login, its metadata names
// the authorization server, and its challenge the scopes.
func TestFoundByTheServer(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(*fake)
		scope   string // of the challenge
		asks    string // of the page
		code    aai.Code
		message string
	}{
		{"with what it has", func(*fake) {}, "", "a b", aai.AuthRequired, ""},
		{"with what it asks for", func(*fake) {}, `, scope="b c"`, "b c", aai.AuthRequired, ""},
		{"itself the authorization server", func(f *fake) { delete(f.handle, "/.well-known/oauth-protected-resource/v1") }, "", "", aai.AuthRequired, ""},
		{"silent", func(f *fake) {
			delete(f.handle, "/.well-known/oauth-protected-resource/v1")
			f.metadata = nil
		}, "", "", aai.AuthRequired, "does not publish how"},
		{"the page of another site", func(f *fake) { f.metadata["authorization_endpoint"] = "https://honest.example/authorize" }, "", "", aai.AuthInvalid, "another site"},
		{"the tokens of another site", func(f *fake) { f.metadata["token_endpoint"] = "https://honest.example/token" }, "", "", aai.AuthInvalid, "another site"},
		{"without PKCE", func(f *fake) { f.metadata["code_challenge_methods_supported"] = []string{"plain"} }, "", "", aai.AuthInvalid, "PKCE"},
		{"of another resource", func(f *fake) {
			f.setHandler("/.well-known/oauth-protected-resource/v1", func(w http.ResponseWriter, _ *http.Request) {
				writeJSON(w, 200, map[string]any{"resource": "https://honest.example/v1", "authorization_servers": []string{f.URL}})
			})
		}, "", "", aai.AuthInvalid, "expected the address that was called"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, func(f *fake) {
				f.handle["/.well-known/oauth-protected-resource/v1"] = func(w http.ResponseWriter, _ *http.Request) {
					writeJSON(w, 200, map[string]any{"resource": f.URL + "/v1", "authorization_servers": []string{f.URL}, "scopes_supported": []string{"a", "b", "no scope"}})
				}
				c.change(f)
			})
			s.recipe = s.fake.mcpRecipe()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.recipe.HTTP.BaseURL, nil)
			assert.NilError(t, err)
			if err := s.logins.Authorize(t.Context(), s.recipe, req); err != nil || req.Header.Get("Authorization") != "" {
				t.Fatalf("%v, %v", req.Header, err)
			}
			refused := &http.Response{StatusCode: http.StatusUnauthorized, Request: req, Header: http.Header{"Www-Authenticate": {`Bearer error="invalid_token"` + c.scope}}, Body: http.NoBody}
			again, err := s.logins.HandleRefusal(t.Context(), s.recipe, refused)
			if c.message != "" {
				e := aai.AsError(err)
				assert.Assert(t, e != nil, "%v %+v", again, e)
				assert.Assert(t, !again, "%v %+v", again, e)
				assert.Equal(t, e.Code, c.code, "%v %+v", again, e)
				assert.Assert(t, is.Contains(e.Message, c.message), "%v %+v", again, e)
				assert.Assert(t, e.Hint != "" || c.code != aai.AuthRequired, "%v %+v", again, e)
				return
			}
			assert.NilError(t, err, again)
			assert.Assert(t, again, again)
			// This call is non-interactive, so it opens no page.
			nobody, cancel := context.WithTimeout(aai.NonInteractive(t.Context()), askPatience)
			defer cancel()
			ends(t, s.logins.Authorize(nobody, s.recipe, req), aai.AuthRequired)
			n := len(s.requests)
			assert.Equal(t, n, 0, "%d pages were opened", n)
			ended := s.ask(t.Context())
			at := <-s.requests
			got := at.query.Get("scope")
			assert.Check(t, is.Equal(got, c.asks))
			assert.Check(t, is.Equal(at.query.Get("resource"), s.fake.URL+"/v1"))
			_, _ = get(t, at.answer(nil))
			assert.Check(t, <-ended)
		})
	}
}

// A user can log in before the first request.
func TestFoundAtLogin(t *testing.T) {
	s := newStage(t)
	s.recipe = s.fake.mcpRecipe()
	ended := make(chan error, 1)
	go func() { ended <- s.logins.Login(t.Context(), s.recipe) }()
	_, _ = get(t, (<-s.requests).answer(nil))
	assert.NilError(t, <-ended)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.recipe.HTTP.BaseURL, nil)
	assert.NilError(t, err)
	if err := s.logins.Authorize(t.Context(), s.recipe, req); err != nil || req.Header.Get("Authorization") != "Bearer an-access-token" {
		t.Errorf("%v, %v", req.Header, err)
	}
}
