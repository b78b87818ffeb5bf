package httpdoor_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/doors/httpdoor"
	"github.com/gybob/aai-gateway/internal/doors/httpdoor/bearer"
)

// testTimeout limits the time that a test waits for an event.
const testTimeout = 20 * time.Second

// newEcho returns a door without a protocol: /echo answers with the sender and the body,
// and /open needs no token.
func newEcho(t *testing.T, cfg httpdoor.Config, p httpdoor.Hooks) *httpdoor.Server {
	t.Helper()
	s, err := httpdoor.New(cfg, p)
	assert.NilError(t, err)
	s.Handle("/echo", func(w http.ResponseWriter, r *http.Request) {
		body, end, ok := s.ReadBody(w, r)
		if !ok {
			return
		}
		defer end()
		x := httpdoor.FromContext(r.Context())
		_, _ = io.WriteString(w, x.Identity()+" "+x.Principal+": "+string(body)) // fails if the client has disconnected
	})
	s.HandlePublic("/open", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	t.Cleanup(s.Close)
	return s
}

// TestAnotherDoor tests the features of a door that only registers handlers.
func TestAnotherDoor(t *testing.T) {
	s := newEcho(t, httpdoor.Config{
		Verifier: bearer.NewSecretVerifier("secret"), Hosts: []string{"box.example"}, Origins: []string{"https://App.example"}, Limits: httpdoor.Limits{MaxBody: 10},
	}, httpdoor.Hooks{CORS: httpdoor.CORSPolicy{Methods: "POST", AllowHeaders: "Authorization", ExposeHeaders: "X-Said"}})
	for _, c := range []struct {
		name, method, path, body string
		headers                  map[string]string
		status                   int
		says                     string
	}{
		{"a token", "POST", "/echo", "hello", nil, 200, "http:local local: hello"},
		{"just so long", "POST", "/echo", "0123456789", nil, 200, "0123456789"},
		{"too long", "POST", "/echo", "0123456789a", nil, 413, `{"error":"the body is too long; see the documentation for the limits"}`},
		{"no token", "POST", "/echo", "hello", map[string]string{"Authorization": ""}, 401, `{"error":"a bearer token is needed"}`},
		{"another scheme", "POST", "/echo", "hello", map[string]string{"Authorization": "Basic secret"}, 401, "a bearer token is needed"},
		{"a wrong token", "POST", "/echo", "hello", map[string]string{"Authorization": "Bearer guess"}, 401, "revoked"},
		{"for everybody", "GET", "/open", "", map[string]string{"Authorization": ""}, 204, ""},
		{"a strange name", "GET", "/open", "", map[string]string{"Host": "evil.example"}, 403, "Host"},
		{"a name of ours", "GET", "/open", "", map[string]string{"Host": "Box.example:8741"}, 204, ""},
		{"a strange page", "GET", "/open", "", map[string]string{"Origin": "https://evil.example"}, 403, "Origin"},
		{"a page of this computer", "GET", "/open", "", map[string]string{"Origin": "http://[::1]:3000"}, 204, ""},
		{"an allowed page", "POST", "/echo", "a", map[string]string{"Origin": "https://app.example"}, 200, "a"},
		{"what it may do", "OPTIONS", "/echo", "", map[string]string{"Origin": "https://app.example", "Authorization": "", "Access-Control-Request-Method": "POST"}, 204, ""},
		{"what a strange one may do", "OPTIONS", "/echo", "", map[string]string{"Origin": "http://localhost", "Authorization": "", "Access-Control-Request-Method": "POST"}, 401, ""},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, "http://localhost"+c.path, strings.NewReader(c.body))
		r.Header.Set("Authorization", "Bearer secret")
		for name, value := range c.headers {
			r.Header.Set(name, value)
		}
		if host := c.headers["Host"]; host != "" {
			r.Host = host
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		assert.Check(t, is.Equal(w.Code, c.status), "%s %s", c.name, w.Body)
		assert.Check(t, is.Contains(w.Body.String(), c.says), "%s %s", c.name, w.Body)
		allowed := w.Header().Get("Access-Control-Allow-Methods")
		assert.Check(t, is.Equal((allowed == "POST"), (c.name == "what it may do")), "%s: a page is told that it may %q", c.name, allowed)
		assert.Check(t, is.Equal(w.Header().Get("WWW-Authenticate") != "", (w.Code == http.StatusUnauthorized)), "%s %d", c.name, w.Code)
	}
}

// TestRefusalsAreTheDoors checks that the door's protocol formats the refusals.
func TestRefusalsAreTheDoors(t *testing.T) {
	s := newEcho(t, httpdoor.Config{}, httpdoor.Hooks{RefusalBody: func(r httpdoor.Refusal) any { return []any{r.Status, r.RetryAfter / time.Second} }})
	refused := func() *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://evil.example/open", nil)
		s.ServeHTTP(w, r)
		return w
	}
	if w := refused(); w.Body.String() != "[403,0]" || w.Header().Get("Retry-After") != "" {
		t.Errorf("%s %v", w.Body, w.Header())
	}
	s.Close()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/open", nil))
	if w.Code != http.StatusServiceUnavailable || w.Body.String() != "[503,1]" || w.Header().Get("Retry-After") != "1" {
		t.Errorf("closed: %d %s %v", w.Code, w.Body, w.Header())
	}
}

// TestServerShutdown: streams end at once, also new ones; other requests are answered;
// work that outlives requests is ended once.
func TestServerShutdown(t *testing.T) {
	var ends atomic.Int32
	began, streamEnded, ending := make(chan struct{}), make(chan struct{}), make(chan struct{})
	s := newEcho(t, httpdoor.Config{}, httpdoor.Hooks{Shutdown: func(late context.Context) {
		_, bounded := late.Deadline()
		assert.Check(t, bounded, "it may take for ever")
		select {
		case <-ending:
		default:
			t.Error("a request that need not last was waited for")
		}
		ends.Add(1)
	}})
	s.Handle("/stream", func(_ http.ResponseWriter, r *http.Request) {
		httpdoor.FromContext(r.Context()).MarkStreaming()
		began <- struct{}{}
		<-r.Context().Done()
		close(streamEnded)
	})
	s.Handle("/slow", func(w http.ResponseWriter, r *http.Request) {
		began <- struct{}{}
		<-streamEnded
		assert.Check(t, r.Context().Err(), "the request was cancelled with the streams")
		httpdoor.FromContext(r.Context()).MarkStreaming() // too late to last
		<-r.Context().Done()
		w.WriteHeader(http.StatusTeapot)
		close(ending)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, listener) }()
	answers := make(chan int, 2)
	for _, path := range []string{"/stream", "/slow"} {
		go func() {
			status := 0
			r, _ := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodGet, "http://"+listener.Addr().String()+path, nil)
			if response, err := http.DefaultClient.Do(r); err == nil {
				status = response.StatusCode
				_ = response.Body.Close()
			}
			answers <- status
		}()
		<-began
	}
	stop()
	for what, ended := range map[string]<-chan struct{}{"the stream": streamEnded, "the request": ending} {
		select {
		case <-ended:
		case <-time.After(testTimeout):
			t.Fatalf("%s does not end", what)
		}
	}
	if err := <-served; err != context.Canceled { //nolint:errorlint // the context's own
		t.Errorf("it ended with %v", err)
	}
	got := max(<-answers, <-answers)
	assert.Check(t, is.Equal(got, http.StatusTeapot), "the slow one was answered %d", got)
	s.Close()
	n := ends.Load()
	assert.Check(t, n == 1, "the door was ended %d times", n)
}

// TestWhatWasAnsweredArrives checks that a complete answer is sent before its connection is
// closed at the server's end, though the Go server writes the end of it after the handler
// has returned.
func TestWhatWasAnsweredArrives(t *testing.T) {
	for range 200 {
		s := newEcho(t, httpdoor.Config{}, httpdoor.Hooks{})
		began, release := make(chan struct{}), make(chan struct{})
		s.Handle("/wait", func(w http.ResponseWriter, _ *http.Request) {
			close(began)
			<-release
			_, _ = io.WriteString(w, "answered") // it stays in the server's buffer
		})
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		assert.NilError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- s.Serve(ctx, listener) }()
		answer := make(chan string, 1)
		go func() {
			response, err := http.Get("http://" + listener.Addr().String() + "/wait")
			if err != nil {
				answer <- err.Error()
				return
			}
			defer response.Body.Close() //nolint:errcheck // it was read
			body, err := io.ReadAll(response.Body)
			answer <- fmt.Sprint(string(body), err)
		}()
		<-began
		stop()
		close(release)
		assert.Equal(t, <-answer, "answered<nil>")
		<-served
	}
}

// TestOpenToOthersNeedsAuthentication checks that a server for other computers needs
// tokens.
func TestOpenToOthersNeedsAuthentication(t *testing.T) {
	for _, bind := range []string{"0.0.0.0", "::", "192.0.2.1", "example.com", "localhost.example.com"} {
		_, err := httpdoor.New(httpdoor.Config{Bind: bind}, httpdoor.Hooks{})
		assert.Check(t, is.ErrorContains(err, "other computers"), bind)
		newEcho(t, httpdoor.Config{Bind: bind, Verifier: bearer.NewSecretVerifier("secret")}, httpdoor.Hooks{})
	}
	for _, bind := range []string{"", "localhost", "127.0.0.1", "127.1.2.3", "::1"} {
		newEcho(t, httpdoor.Config{Bind: bind}, httpdoor.Hooks{})
	}
}

// TestPagesOfThisComputer checks that a page of this computer may use a server that is for
// this computer alone, and no other server.
func TestPagesOfThisComputer(t *testing.T) {
	for _, c := range []struct {
		bind, origin string
		admitted     bool
	}{
		{"127.0.0.1", "http://localhost:3000", true}, {"127.0.0.1", "http://[::1]:3000", true}, {"127.0.0.1", "https://evil.example", false},
		{"0.0.0.0", "http://localhost:3000", false}, {"0.0.0.0", "http://192.0.2.1:8741", true}, {"127.0.0.1", "file://localhost", false},
	} {
		s := newEcho(t, httpdoor.Config{Bind: c.bind, Verifier: bearer.NewSecretVerifier("secret")}, httpdoor.Hooks{})
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/open", nil)
		r.Host = "127.0.0.1:8741"
		if c.bind == "0.0.0.0" {
			r.Host = "192.0.2.1:8741"
		}
		r.Header.Set("Origin", c.origin)
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); (w.Code == http.StatusNoContent) != c.admitted {
			t.Errorf("bound to %s, from %s: %d %s", c.bind, c.origin, w.Code, w.Body)
		}
	}
}

// TestHostsOfOtherBinds: a page can make a name resolve to this server, but not an address.
func TestHostsOfOtherBinds(t *testing.T) {
	for _, c := range []struct {
		bind, host string
		admitted   bool
	}{
		{"0.0.0.0", "192.0.2.1:8741", true}, {"0.0.0.0", "[2001:db8::1]:8741", true}, {"0.0.0.0", "evil.example", false}, {"0.0.0.0", "localhost", true},
		{"192.0.2.1", "192.0.2.1", true}, {"192.0.2.1", "192.0.2.2", false}, {"192.0.2.1", "evil.example", false},
		{"box.example", "box.example:1", true}, {"box.example", "evil.example", false},
		{"127.0.0.1", "[::1]:8741", true}, {"127.0.0.1", "192.0.2.1", false}, {"::", "192.0.2.1", true},
	} {
		s := newEcho(t, httpdoor.Config{Bind: c.bind, Verifier: bearer.NewSecretVerifier("secret")}, httpdoor.Hooks{})
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/open", nil)
		r.Host = c.host
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); (w.Code == http.StatusNoContent) != c.admitted {
			t.Errorf("bound to %s, called %s: %d %s", c.bind, c.host, w.Code, w.Body)
		}
	}
}
