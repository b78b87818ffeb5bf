package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/drivers/mcp"
)

// restartedServer is a server of the SDK over HTTP that can be restarted, and a proxy's faults in front of it.
type restartedServer struct {
	handler  atomic.Pointer[sdk.StreamableHTTPHandler]
	calls    atomic.Int64                                     // of tools
	released chan struct{}                                    // lets calls of "wait" end
	waiting  chan struct{}                                    // one value for each call of "wait"
	unknown  func(http.ResponseWriter, *http.Request, []byte) // answers a request with an unknown session; nil: as the SDK does
	streams  chan context.CancelFunc                          // ends the standalone streams
}

// restart replaces the process: sessions are forgotten, and the tools are those of the names.
func (s *restartedServer) restart(names ...string) {
	server := sdk.NewServer(&sdk.Implementation{Name: "far", Version: "1"}, nil)
	for _, name := range names {
		server.AddTool(&sdk.Tool{Name: name, InputSchema: map[string]any{"type": "object"}}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			s.calls.Add(1)
			if name == "wait" {
				s.waiting <- struct{}{}
				<-s.released
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "did " + name}}}, nil
		})
	}
	s.handler.Store(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
}

// statusOf records the status of a response.
type statusOf struct {
	*httptest.ResponseRecorder
}

func (s *restartedServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	if strings.Contains(string(body), `"server/discover"`) {
		http.Error(w, "an older server", http.StatusBadRequest) // sessions exist in older versions only
		return
	}
	if r.Method == http.MethodGet {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		s.streams <- cancel
		s.handler.Load().ServeHTTP(w, r.WithContext(ctx))
		return
	}
	if id := r.Header.Get("Mcp-Session-Id"); s.unknown != nil && id != "" && r.Method == http.MethodPost {
		probe := statusOf{httptest.NewRecorder()}
		ping := httptest.NewRequestWithContext(r.Context(), http.MethodPost, "/", strings.NewReader(`{"jsonrpc":"2.0","id":"probe","method":"ping"}`))
		ping.Header = r.Header.Clone()
		s.handler.Load().ServeHTTP(probe, ping)
		if probe.Code == http.StatusNotFound {
			s.unknown(w, r, body)
			return
		}
	}
	s.handler.Load().ServeHTTP(w, r)
}

func restartedWorld(t *testing.T, names ...string) (*world, *restartedServer, string) {
	t.Helper()
	s := &restartedServer{released: make(chan struct{}), waiting: make(chan struct{}, 1), streams: make(chan context.CancelFunc, 100)}
	s.restart(names...)
	far, way := httptest.NewServer(s), &http.Transport{}
	t.Cleanup(func() { far.CloseClientConnections(); far.Close(); way.CloseIdleConnections() })
	w := newWorld(t, func(c *mcp.Config) { c.Client = &http.Client{Transport: way} })
	return w, s, w.add(t, &aai.MCPRecipe{URL: far.URL})
}

// A server that has lost the session gets the call in a new one, whatever it answers: the status of MCP, an error of
// the protocol beside it, or the status that widely used servers have.
func TestLostSession(t *testing.T) {
	answer := func(status int, words string, withID bool) func(http.ResponseWriter, *http.Request, []byte) {
		return func(w http.ResponseWriter, _ *http.Request, body []byte) {
			var m message
			_ = json.Unmarshal(body, &m)
			if !withID {
				m.ID = nil
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(dict{"jsonrpc": "2.0", "id": m.ID, "error": dict{"code": -32000, "message": words}})
		}
	}
	for name, unknown := range map[string]func(http.ResponseWriter, *http.Request, []byte){
		"404": nil, "404 with an error": answer(http.StatusNotFound, "Session not found", true),
		"400": answer(http.StatusBadRequest, "Bad Request: No valid session ID provided", false),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s, app := restartedWorld(t, "do")
			s.unknown = unknown
			w.start(t, app)
			s.restart("do")
			r := w.must(t, app, "do", nil)
			assert.Equal(t, r.Text, "did do", "%+v", r)
			n := s.calls.Load()
			assert.Check(t, n == 1, "%d calls", n)
		})
	}
}

// The end of the standalone stream ends neither the session nor its calls, and the tools are listed again.
func TestStandaloneStreamEnds(t *testing.T) {
	w, s, app := restartedWorld(t, "do", "wait")
	w.start(t, app)
	end := <-s.streams
	ended := make(chan *aai.Error)
	go func() { _, e := w.call(t, app, "wait", nil); ended <- e }()
	<-s.waiting
	end()
	<-s.streams // requested again
	close(s.released)
	e := <-ended
	assert.Check(t, e == nil, e)
}

// A tool that a running server has added without a notification is found by its first call, and by a guide.
func TestUnlistedToolOfARunningServer(t *testing.T) {
	w, s, app := restartedWorld(t, "do")
	w.start(t, app)
	s.restart("do", "added")
	r, e := w.call(t, app, "added", nil)
	assert.Assert(t, e == nil, "%+v %v", r, e)
	assert.Equal(t, r.Text, "did added", "%+v %v", r, e)
	e = w.fails(t, aai.ToolNotFound, app, "none", nil)
	assert.Assert(t, is.Contains(e.Hint, "added, do"), "%+v", e)
}

// A stopped server's tools are those of its last run, which the error says.
func TestUnlistedToolOfAStoppedServer(t *testing.T) {
	w := newWorld(t)
	app := w.hostile(t, "plain")
	w.start(t, app)
	w.close(t)
	_, e := w.call(t, app, "added", nil)
	assert.Assert(t, e != nil, "%+v", e)
	assert.Assert(t, is.Contains(e.Hint, "The server does not run; a call of one of these starts it"), "%+v", e)
}

// A server at an address that is away costs a call an error of its own words, and is there again at once.
func TestAddressThatComesBack(t *testing.T) {
	place, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	address := place.Addr().String()
	_ = place.Close()
	way := &http.Transport{}
	t.Cleanup(way.CloseIdleConnections)
	w := newWorld(t, func(c *mcp.Config) { c.Client = &http.Client{Transport: unreachable{way}} })
	app := w.add(t, &aai.MCPRecipe{URL: "http://" + address})
	for range 12 {
		e := w.fails(t, aai.AppNotRunning, app, "mcp_start", nil)
		assert.Equal(t, e.Delivery, aai.NotDelivered, "%+v", e)
		assert.Equal(t, e.Hint, "The person can check whether the server runs at its address.", "%+v", e)
		assert.Assert(t, !(e.RetryAfter.Seconds() > 1), "it rests for %s", e.RetryAfter)
	}
	s := &restartedServer{streams: make(chan context.CancelFunc, 100)}
	s.restart("do")
	place, err = net.Listen("tcp", address)
	assert.NilError(t, err)
	far := &httptest.Server{Listener: place, Config: &http.Server{Handler: s}}
	far.Start()
	t.Cleanup(func() { far.CloseClientConnections(); far.Close() })
	eventually(t, "the server is there again", func() bool { _, e := w.call(t, app, "mcp_start", nil); return e == nil })
}

// unreachable gives the error that the gateway's client has for an address without a server.
type unreachable struct{ http.RoundTripper }

func (u unreachable) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := u.RoundTripper.RoundTrip(r)
	if err != nil && r.Context().Err() == nil && !os.IsTimeout(err) {
		e := aai.Errorf(aai.AppNotRunning, "%s could not be reached", r.URL.Host)
		e.Delivery = aai.NotDelivered
		return nil, fmt.Errorf("dial: %w", e)
	}
	return resp, err
}
