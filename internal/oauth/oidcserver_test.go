package oauth_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"testing"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// authorizer is a real authorization server.
type authorizer struct{ *testkit.OIDCServer }

// authorizers are the running servers by their options, shared by tests. They end with this
// process, through their standard input.
var authorizers = struct {
	sync.Mutex
	running map[string]*authorizer
	pipes   []io.Closer // open until this process ends
}{running: make(map[string]*authorizer)}

func startAuthorizer(t *testing.T, l testkit.OIDCOptions) *authorizer {
	t.Helper()
	how := fmt.Sprintf("%+v", l)
	authorizers.Lock()
	defer authorizers.Unlock()
	if a := authorizers.running[how]; a != nil {
		return a
	}
	server, end := testkit.StartOIDC(t, "../..", l)
	a := &authorizer{server}
	authorizers.running[how], authorizers.pipes = a, append(authorizers.pipes, end)
	return a
}

// introspect asks the server about a token, as the API does (RFC 7662).
func (a *authorizer) introspect(token string) map[string]any {
	about, _ := a.PostForm(context.Background(), "/token/introspection", "api", "of the api", url.Values{"token": {token}})
	return about
}

// recipe returns a recipe of a local app that uses the server for logins.
func (a *authorizer) recipe(base string, scopes ...string) *aai.Recipe {
	return &aai.Recipe{
		App: "org.example.things", Tool: "list", Platform: "web",
		HTTP: &aai.HTTPRecipe{BaseURL: base, Path: "/things", Method: http.MethodGet, Auth: &aai.AuthRecipe{
			Kind: aai.AuthOAuth2, AuthorizationEndpoint: a.Issuer + "/auth", TokenEndpoint: a.Issuer + "/token",
			Scopes: scopes, PKCE: "S256",
		}},
	}
}
