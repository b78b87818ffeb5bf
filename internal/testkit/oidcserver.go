package testkit

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// OIDCOptions configures an authorization server. The zero value logs people in on the pages of the server and issues
// opaque tokens for ten minutes.
type OIDCOptions struct {
	DPoP           bool           `json:"dpop,omitempty"`
	Nonce          bool           `json:"nonce,omitempty"` // DPoP proofs need a nonce of the server
	PAR            bool           `json:"par,omitempty"`
	Registration   bool           `json:"registration,omitempty"`
	Document       map[string]any `json:"document,omitempty"`  // client ID metadata documents, by address
	AccessTTL      int            `json:"accessTTL,omitempty"` // seconds
	ProgramClients bool           `json:"services,omitempty"`  // the clients are programs, "agent" and "gateway"; the resource's address selects the form of tokens
}

// An OIDCServer is an authorization server, oidc-provider, that runs in a separate process.
type OIDCServer struct{ Issuer string }

// StartOIDC starts an authorization server that runs until the returned closer is closed, or this process ends.
// repository is the folder of the repository, where scripts/need-oidc has installed the server.
func StartOIDC(t testing.TB, repository string, l OIDCOptions) (*OIDCServer, io.Closer) {
	t.Helper()
	how, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	cache, err := filepath.Abs(filepath.Join(repository, ".cache", "oidc"))
	if err != nil {
		t.Fatal(err)
	}
	node, err := filepath.Glob(filepath.Join(cache, "node_modules", "node-linux-*", "bin", "node"))
	_, missing := os.Stat(filepath.Join(cache, "installed.json"))
	Installed(t, err == nil && missing == nil && len(node) != 0, "install the authorization server: scripts/need-oidc")
	script := filepath.Join(repository, "internal/testkit/testdata/oidc/server.mjs")
	p := StartProcess(t, exec.Command(node[0], script, cache, string(how))) //nolint:noctx // it ends by its standard input
	return &OIDCServer{Issuer: p.ReadLine(t)}, p
}

// PostForm sends a form to a path of the server, authenticated with client and secret, and returns the decoded
// answer; nil if it is empty.
func (s *OIDCServer) PostForm(ctx context.Context, path, client, secret string, form url.Values) (map[string]any, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Issuer+path, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(url.QueryEscape(client), url.QueryEscape(secret))
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	b, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s: %s, %w", path, response.Status, b, err)
	}
	var answer map[string]any
	if len(b) == 0 {
		return nil, nil //nolint:nilnil // a revocation is answered by nothing
	}
	return answer, json.Unmarshal(b, &answer)
}
