package webapi

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
)

// TestMain checks that no call leaves a goroutine. The proxies of the toxic tests do: their links
// wait for delayed data.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2/toxics.(*ToxicStub).Run"),
		goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2.(*ToxicLink).write"),
		goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2.(*ToxicLink).read"),
	)
}

// server is a real loopback server that records its requests.
type server struct {
	*httptest.Server
	mu   sync.Mutex
	seen []*seen
}

// seen is one request with its body.
type seen struct {
	*http.Request
	body string
}

// serve starts a server with the handler. It speaks HTTP/1.1 without TLS.
func serve(t testing.TB, handle http.HandlerFunc) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(s.watch(handle))
	t.Cleanup(s.Close)
	return s
}

// serveTLS is serve over TLS and HTTP/2.
func serveTLS(t testing.TB, handle http.HandlerFunc) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewUnstartedServer(s.watch(handle))
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func (s *server) watch(handle http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.seen = append(s.seen, &seen{r, string(body)})
		s.mu.Unlock()
		handle(w, r)
	})
}

// requests returns all requests so far.
func (s *server) requests() []*seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*seen(nil), s.seen...)
}

// await waits for n requests and returns their number. A cancelled call may be ahead of the
// server.
func (s *server) await(n int) int {
	for range 500 {
		if len(s.requests()) >= n {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return len(s.requests())
}

// last returns the last request.
func (s *server) last(t testing.TB) *seen {
	t.Helper()
	all := s.requests()
	assert.Assert(t, len(all) != 0, "the site has seen no request")
	return all[len(all)-1]
}

// answers is a handler with one response.
func answers(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// plainClient returns a client without proxies and other additions.
func plainClient(t testing.TB) *http.Client {
	t.Helper()
	transport := &http.Transport{ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// fast returns a configuration with limits too high to matter.
func fast(client *http.Client) Config { return Config{Client: client, Rate: 1e6, Burst: 1e6} }

// newDriver returns a driver with a plain client.
func newDriver(t testing.TB) *Driver { return New(fast(plainClient(t))) }

// recipe returns a recipe for a tool of the server at base.
func recipe(base, method, path string, params ...string) *aai.Recipe {
	return &aai.Recipe{
		App: "org.example.web", Tool: "tool", Platform: "web", Params: params,
		HTTP: &aai.HTTPRecipe{BaseURL: base, Path: path, Method: method},
	}
}

func compile(t testing.TB, d *Driver, r *aai.Recipe) aai.Action {
	t.Helper()
	action, err := d.Compile(r)
	assert.NilError(t, err)
	return action
}

// soon limits a call that must not block. No test waits for it to expire.
func soon(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func run(t testing.TB, action aai.Action, args map[string]any) *aai.Result {
	t.Helper()
	result, err := action(soon(t), &aai.Call{Args: args})
	assert.NilError(t, err, "the call failed: %v", err)
	return result
}

// fail runs the action and returns its error, which must be an *aai.Error with the code and the
// delivery.
func fail(t testing.TB, action aai.Action, args map[string]any, code aai.Code, delivery aai.Delivery) aai.Error {
	t.Helper()
	return failIn(soon(t), t, action, args, code, delivery)
}

func failIn(ctx context.Context, t testing.TB, action aai.Action, args map[string]any, code aai.Code, delivery aai.Delivery) aai.Error {
	t.Helper()
	result, err := action(ctx, &aai.Call{Args: args})
	assert.Assert(t, err != nil, "expected %s, got the result %+v", code, result)
	e, ok := err.(*aai.Error) //nolint:errorlint // the contract is this exact type
	assert.Assert(t, ok, "expected an *aai.Error, got %T: %v", err, err)
	assert.Equal(t, e.Code, code, e.Message)
	assert.Equal(t, e.Delivery, delivery, e.Message)
	return *e
}

// within returns a context that ends so soon that a call times out.
func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
