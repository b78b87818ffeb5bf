package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/drivers/mcp"
	"github.com/gybob/aai-gateway/internal/oauth"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// remoteWorld is a gateway with real logins, a real authorization server, and the third-party
// server "everything" behind its tokens.
type remoteWorld struct {
	*world
	issuer  *testkit.OIDCServer
	address string
	secrets *memorySecrets
	logins  *oauth.Authorizer
	app     string
	ahead   atomic.Int64 // offset of the gateway's clock
	windows atomic.Int64 // of the browser
	idle    atomic.Bool  // the user ignores pages
	pages   chan string
}

func newRemoteWorld(t *testing.T, like testkit.OIDCOptions, far map[string]any, auth func(issuer string) *aai.AuthRecipe) *remoteWorld {
	t.Helper()
	w := &remoteWorld{secrets: &memorySecrets{kept: make(map[string][]byte)}, pages: make(chan string, 10)}
	issuer, end := testkit.StartOIDC(t, "../../..", like)
	t.Cleanup(func() { _ = end.Close() })
	w.issuer = issuer
	node := realServer(t, "mcp-server-everything").Command
	how, _ := json.Marshal(far)
	modules, err := filepath.Abs("../../../.cache/servers")
	assert.NilError(t, err)
	p := testkit.StartProcess(t, exec.Command(node, "testdata/far/server.mjs", modules, issuer.Issuer, string(how)))
	t.Cleanup(func() { _ = p.Close() })
	w.address = p.ReadLine(t)
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	w.logins = oauth.New(oauth.Config{Client: client, Secrets: w.secrets, AllowLoopbackHTTP: true, Browser: w.browse,
		Now: func() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) }})
	t.Cleanup(func() { _ = w.logins.Close() })
	w.world = newWorld(t, func(c *mcp.Config) { c.Client, c.Authorizer, c.Secrets = client, w.logins, w.secrets })
	recipe := &aai.MCPRecipe{URL: w.address}
	if auth != nil {
		recipe.Auth = auth(issuer.Issuer)
	}
	w.app = w.add(t, recipe)
	return w
}

// browse is the browser; the user logs in there, unless they are idle.
func (w *remoteWorld) browse(_ context.Context, address string) error {
	w.windows.Add(1)
	w.pages <- address
	if !w.idle.Load() {
		go w.logIn(address)
	}
	return nil
}

func (w *remoteWorld) logIn(address string) {
	p := testkit.NewBrowserUser()
	defer p.Client.CloseIdleConnections()
	_, _, _ = p.Visit(context.Background(), address)
}

// token returns the stored token of the only login.
func (w *remoteWorld) token(t *testing.T) (access, refresh, client string) {
	t.Helper()
	names, _ := w.secrets.Names(t.Context(), "login/token/")
	assert.Assert(t, is.Len(names, 1), "%d tokens are kept", len(names))
	b, _ := w.secrets.Get(t.Context(), names[0])
	var token struct {
		Access, Refresh string
		Client          struct{ ID string }
	}
	assert.NilError(t, json.Unmarshal(b, &token))
	return token.Access, token.Refresh, token.Client.ID
}

// active asks the authorization server whether a token is active.
func (w *remoteWorld) active(t *testing.T, token string) bool {
	t.Helper()
	about, err := w.issuer.PostForm(t.Context(), "/token/introspection", "api", "of the api", url.Values{"token": {token}})
	assert.NilError(t, err)
	active, _ := about["active"].(bool)
	return active
}

func (w *remoteWorld) echoes(t *testing.T, word string) {
	t.Helper()
	r := w.must(t, w.app, "echo", map[string]any{"message": word})
	assert.Equal(t, r.Text, "Echo: "+word, "%+v", r)
}

// named returns a login with its endpoints in the descriptor.
func named(issuer string) *aai.AuthRecipe {
	return &aai.AuthRecipe{Kind: aai.AuthOAuth2, AuthorizationEndpoint: issuer + "/auth", TokenEndpoint: issuer + "/token", Scopes: []string{"read"}, PKCE: "S256"}
}

// A third-party server behind tokens of a real authorization server: the first call names the
// login page, later ones succeed. An expired token is replaced, even if only the server knows that
// it expired. A revoked login is reported.
func TestFarServerWithOAuth(t *testing.T) {
	for _, c := range []struct {
		name string
		like testkit.OIDCOptions
		far  map[string]any
		auth func(string) *aai.AuthRecipe
	}{
		{"as the descriptor says", testkit.OIDCOptions{AccessTTL: 3}, nil, named},
		{"as the descriptor says, of a silent server", testkit.OIDCOptions{AccessTTL: 3}, map[string]any{"silent": true}, named},
		{"as the server says", testkit.OIDCOptions{AccessTTL: 3, Registration: true}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) { newRemoteWorld(t, c.like, c.far, c.auth).lives(t) })
	}
}

func (w *remoteWorld) lives(t *testing.T) {
	w.idle.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, e := w.callIn(ctx, w.app, "mcp_start", nil)
	assert.Assert(t, e != nil, "%+v", e)
	assert.Equal(t, e.Code, aai.AuthRequired, "%+v", e)
	assert.Equal(t, e.Delivery, aai.NotDelivered, "%+v", e)
	assert.Assert(t, strings.HasPrefix(e.LoginURL, w.issuer.Issuer+"/auth?"), "%+v", e)
	assert.Assert(t, is.Contains(e.Hint, "make the same call again"), "%+v", e)
	page := <-w.pages
	assert.Check(t, is.Equal(page, e.LoginURL), "the browser shows %s, the call said %s", page, e.LoginURL)
	w.logIn(e.LoginURL)
	w.start(t, w.app)
	w.echoes(t, "logged in")

	first, _, _ := w.token(t)
	eventually(t, "the token ends", func() bool { return !w.active(t, first) })
	w.echoes(t, "renewed by the clock")
	second, _, _ := w.token(t)
	assert.Check(t, first != second, "the token is the first one")
	w.ahead.Add(int64(time.Minute))
	w.echoes(t, "renewed by the clock alone")
	third, _, _ := w.token(t)
	w.ahead.Add(-int64(time.Hour)) // for the gateway it is valid
	eventually(t, "the token ends", func() bool { return !w.active(t, third) })
	w.echoes(t, "renewed because it was refused")
	n := w.windows.Load()
	assert.Check(t, n == 1, "%d windows were opened", n)

	_, refresh, _ := w.token(t)
	w.ahead.Add(2 * int64(time.Hour))
	w.revoke(t, refresh)
	e = w.fails(t, aai.AuthExpired, w.app, "echo", map[string]any{"message": "x"})
	assert.Equal(t, e.Delivery, aai.NotDelivered, "%+v", e)
	assert.Assert(t, is.Contains(e.Hint, "aai-gateway auth login "+w.app), "%+v", e)
	w.idle.Store(false)
	w.echoes(t, "logged in again")
}

// revoke revokes a token at the authorization server.
func (w *remoteWorld) revoke(t *testing.T, token string) {
	t.Helper()
	_, _, client := w.token(t)
	response, err := http.PostForm(w.issuer.Issuer+"/token/revocation", url.Values{"token": {token}, "client_id": {client}})
	assert.NilError(t, err, "%+v", response)
	assert.Equal(t, response.StatusCode, http.StatusOK, "%+v", response)
	_ = response.Body.Close()
	http.DefaultClient.CloseIdleConnections()
}

// A server ends after its idle time with all its children, even against its will, and with its
// gateway.
func TestServersEnd(t *testing.T) {
	for name, idle := range map[string]time.Duration{"idle": 50 * time.Millisecond, "closed": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(c *mcp.Config) { c.IdleTimeout = idle })
			file := filepath.Join(w.folder, "pids")
			app := w.hostile(t, "stays", file)
			w.start(t, app)
			var self, child, daemon int
			b, err := os.ReadFile(file)
			_, scan := fmt.Sscanf(string(b), "%d %d %d", &self, &child, &daemon)
			assert.NilError(t, err)
			assert.NilError(t, scan)
			if name == "closed" {
				assert.NilError(t, syscall.Kill(self, 0))
				assert.NilError(t, syscall.Kill(child, 0))
				assert.Assert(t, !testkit.HasExited(daemon), "it does not run")
				w.close(t)
			}
			for _, pid := range []int{self, child, daemon} {
				eventually(t, "the process ends", func() bool { return testkit.HasExited(pid) })
			}
		})
	}
}

// A server leaves nothing behind, however the gateway dies.
func TestServersEndWithAKilledGateway(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pids")
	gateway := testkit.StartProcess(t, exec.Command(os.Args[0], asGateway, file))
	assert.Check(t, is.Equal(gateway.ReadLine(t), "started <nil>"))
	b, err := os.ReadFile(file)
	var server, child, daemon int
	_, scan := fmt.Sscanf(string(b), "%d %d %d", &server, &child, &daemon)
	assert.NilError(t, err, b)
	assert.NilError(t, scan, b)
	assert.Assert(t, !testkit.HasExited(server), b)
	assert.Assert(t, !testkit.HasExited(child), b)
	assert.Assert(t, !testkit.HasExited(daemon), b)
	gateway.Kill()
	for _, pid := range []int{server, child, daemon} {
		eventually(t, "the process ends", func() bool { return testkit.HasExited(pid) })
	}
}

// A server inherits no open file of the gateway.
func TestServersGetNoOtherFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "private")
	assert.NilError(t, os.WriteFile(path, []byte("x"), 0o600))
	fd, err := syscall.Open(path, syscall.O_RDONLY, 0) // inherited by child processes
	assert.NilError(t, err)
	defer syscall.Close(fd) //nolint:errcheck // it was only read
	w := newWorld(t)
	app := w.hostile(t, "files")
	w.start(t, app)
	got, e := w.call(t, app, "do", nil)
	assert.Assert(t, e == nil, "%v %v", got, e)
	assert.Assert(t, is.Contains(got.Text, "pipe:"), "%v %v", got, e)
	assert.Assert(t, !strings.Contains(got.Text, path), "%v %v", got, e)
}
