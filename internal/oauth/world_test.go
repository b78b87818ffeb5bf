package oauth_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/oauth"
	"github.com/gybob/aai-gateway/internal/testkit"
)

func TestMain(m *testing.M) {
	if runChild() {
		return
	}
	code := m.Run()
	http.DefaultClient.CloseIdleConnections()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// api is a real HTTP API that admits requests with a token for this API and its scope.
type api struct {
	*httptest.Server
	as    *authorizer
	calls atomic.Int64 // admitted
	nonce atomic.Pointer[string]
	// challenge, if not nil, returns the WWW-Authenticate header of a refusal.
	challenge func(scope string) string
}

func startAPI(t *testing.T, as *authorizer) *api {
	t.Helper()
	a := &api{as: as}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/things", a.guarded("read"))
	mux.HandleFunc("POST /v1/things", a.guarded("write"))
	mux.HandleFunc("DELETE /v1/things", a.guarded("admin"))
	a.Server = httptest.NewServer(mux)
	t.Cleanup(a.Close)
	return a
}

func (a *api) guarded(scope string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		about := a.as.introspect(token)
		active, _ := about["active"].(bool)
		kind, _ := about["token_type"].(string)
		if !active || about["aud"] != a.URL || !strings.EqualFold(scheme, kind) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="things", error="invalid_token"`)
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		if strings.EqualFold(kind, "DPoP") && !a.proves(w, r, token, about) {
			return
		}
		scopes, _ := about["scope"].(string)
		if !slices.Contains(strings.Fields(scopes), scope) {
			asks := fmt.Sprintf(`Bearer error="insufficient_scope", scope=%q`, scope)
			if a.challenge != nil {
				asks = a.challenge(scope)
			}
			w.Header().Set("WWW-Authenticate", asks)
			http.Error(w, "not this", http.StatusForbidden)
			return
		}
		a.calls.Add(1)
		fmt.Fprint(w, "things") //nolint:errcheck // the client may be gone
	}
}

// clock is a clock that a test sets.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time        { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) pass(by time.Duration) { c.ahead.Add(int64(by)) }

// world is a gateway's authorizer with an authorization server and an API.
type world struct {
	t       *testing.T
	as      *authorizer
	api     *api
	recipe  *aai.Recipe
	secrets *folder
	clock   clock
	logins  *oauth.Authorizer
	logs    lockedBuffer
	said    lockedBuffer // progress messages

	windows atomic.Int64 // of the browser
	visited sync.Map     // addresses
}

// newWorld returns a world with a user that logs in as soon as the browser opens.
func newWorld(t *testing.T, l testkit.OIDCOptions, changes ...func(*world, *loginConfig)) *world {
	t.Helper()
	as := startAuthorizer(t, l)
	return worldWith(t, as, changes...)
}

func worldWith(t *testing.T, as *authorizer, changes ...func(*world, *loginConfig)) *world {
	t.Helper()
	w := &world{t: t, as: as, api: startAPI(t, as), secrets: &folder{path: t.TempDir()}}
	w.recipe = as.recipe(w.api.URL+"/v1", "read")
	w.logins = w.open(changes...)
	return w
}

// open returns another authorizer with the same secrets.
func (w *world) open(changes ...func(*world, *loginConfig)) *oauth.Authorizer {
	cfg := loginConfig{
		Client:  &http.Client{Transport: &http.Transport{}},
		Secrets: w.secrets, AllowLoopbackHTTP: true, Now: w.clock.now,
		Browser: w.browse,
		Log:     slog.New(slog.NewTextHandler(&w.logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, change := range changes {
		change(w, &cfg)
	}
	transport, plain := cfg.Client.Transport.(*http.Transport)
	l := oauth.New(cfg)
	w.t.Cleanup(func() {
		assert.Check(w.t, l.Close())
		if plain {
			transport.CloseIdleConnections()
		}
	})
	return l
}

// browse is the browser: a new window, in which the user logs in.
func (w *world) browse(_ context.Context, address string) error {
	w.windows.Add(1)
	w.visited.Store(address, true)
	go func() {
		p := testkit.NewBrowserUser()
		defer p.Client.CloseIdleConnections()
		if _, _, err := p.Visit(context.Background(), address); err != nil {
			w.t.Logf("the person got lost: %v", err)
		}
	}()
	return nil
}

// idleBrowser is a browser with an idle user.
func idleBrowser(w *world, c *loginConfig) {
	c.Browser = func(_ context.Context, address string) error {
		w.windows.Add(1)
		w.visited.Store(address, true)
		return nil
	}
}

func withoutBrowser(_ *world, c *loginConfig) { c.Browser = nil }

// call makes one call of the API as a driver does.
func (w *world) call(ctx context.Context, l *oauth.Authorizer, method string) (status int, err error) {
	ctx = gateway.WithProgress(ctx, func(_, _ float64, message string) { _, _ = fmt.Fprintln(&w.said, message) })
	for range 6 {
		req, err := http.NewRequestWithContext(ctx, method, w.recipe.HTTP.BaseURL+"/things", nil)
		if err != nil {
			return 0, err
		}
		if err := l.Authorize(ctx, w.recipe, req); err != nil {
			return 0, err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, err
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
			return resp.StatusCode, nil
		}
		again, err := l.HandleRefusal(ctx, w.recipe, resp)
		if err != nil || !again {
			return resp.StatusCode, err
		}
	}
	return 0, fmt.Errorf("it never ends")
}

// works fails the test unless the API admits the call.
func (w *world) works() {
	w.t.Helper()
	status, err := w.call(w.t.Context(), w.logins, http.MethodGet)
	assert.NilError(w.t, err)
	assert.Equal(w.t, status, http.StatusOK)
}

// fails fails the test unless the call ends with the code.
func (w *world) fails(ctx context.Context, code aai.Code) aai.Error {
	w.t.Helper()
	status, err := w.call(ctx, w.logins, http.MethodGet)
	assert.Assert(w.t, err != nil, "the call gave %d; expected %s", status, code)
	e := aai.AsError(err)
	assert.Equal(w.t, e.Code, code, "the call gave %v (%v); expected %s", e, e.Err, code)
	return *e
}

// contextWithNearDeadline returns a call's context with a near deadline.
func contextWithNearDeadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// lockedBuffer is a bytes.Buffer for several goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

type (
	loginConfig = oauth.Config
	ctx         = context.Context
)

// beyondTokenLife is longer than the lifetime of an access token.
const beyondTokenLife = 11 * time.Minute

// siteOf returns the user's settings for the world's authorization server.
func siteOf(w *world, clientID string) map[string]oauth.SiteSettings {
	_, host, _ := strings.Cut(w.as.Issuer, "://")
	return map[string]oauth.SiteSettings{host: {ClientID: clientID, SecretID: "things-secret"}}
}
