package login_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	command "os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"aai"
)

// like is what a real authorization server is to be like; see testdata/oidc.
type like struct {
	DPoP         bool           `json:"dpop,omitempty"`
	Nonce        bool           `json:"nonce,omitempty"`
	PAR          bool           `json:"par,omitempty"`
	Registration bool           `json:"registration,omitempty"`
	Document     map[string]any `json:"document,omitempty"`
	AccessTTL    int            `json:"accessTTL,omitempty"`
}

// An authorizer is a real authorization server, oidc-provider, in a process of its
// own.
type authorizer struct {
	issuer string
	pipes  []io.Closer // open as long as this process lives
}

// authorizers are the servers that run, by what they are like: tests that want the
// same share one. They end with this process, by their standard input.
var authorizers = struct {
	sync.Mutex
	running map[string]*authorizer
}{running: make(map[string]*authorizer)}

func startAuthorizer(t *testing.T, l like) *authorizer {
	t.Helper()
	how, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	authorizers.Lock()
	defer authorizers.Unlock()
	if a := authorizers.running[string(how)]; a != nil {
		return a
	}
	cache, err := filepath.Abs("../../.cache/oidc")
	if err != nil {
		t.Fatal(err)
	}
	node, err := filepath.Glob(filepath.Join(cache, "node_modules", "node-linux-*", "bin", "node"))
	if _, missing := os.Stat(filepath.Join(cache, "installed.json")); err != nil || missing != nil || len(node) == 0 {
		t.Fatal("install the authorization server: scripts/need-oidc (make test does)")
	}
	cmd := command.Command(node[0], "testdata/oidc/server.mjs", cache, string(how))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the authorization server does not start: %v", err)
	}
	a := &authorizer{issuer: strings.TrimSpace(line), pipes: []io.Closer{in, out}}
	authorizers.running[string(how)] = a
	return a
}

// introspect asks the server about a token, as the API does (RFC 7662).
func (a *authorizer) introspect(token string) map[string]any {
	r, err := http.NewRequest(http.MethodPost, a.issuer+"/token/introspection", strings.NewReader(url.Values{"token": {token}}.Encode()))
	if err != nil {
		return nil
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth("api", url.QueryEscape("of the api"))
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	b, _ := io.ReadAll(response.Body)
	var about map[string]any
	_ = json.Unmarshal(b, &about)
	return about
}

// recipe is how an app on this computer wants people known to it by the server.
func (a *authorizer) recipe(base string, scopes ...string) *aai.Recipe {
	return &aai.Recipe{
		App: "org.example.things", Tool: "list", Platform: "web",
		HTTP: &aai.HTTPRecipe{BaseURL: base, Path: "/things", Method: http.MethodGet, Auth: &aai.AuthRecipe{
			Kind: aai.AuthOAuth2, AuthorizationEndpoint: a.issuer + "/auth", TokenEndpoint: a.issuer + "/token",
			Scopes: scopes, PKCE: "S256",
		}},
	}
}
