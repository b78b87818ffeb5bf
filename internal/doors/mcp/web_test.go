package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/httpdoor"
	"github.com/gybob/aai-gateway/internal/doors/httpdoor/bearer"
	"github.com/gybob/aai-gateway/internal/doors/mcp/streamable"
)

// The headers of a request of each version.
const (
	acceptBoth = "application/json, text/event-stream"
	oldEra     = "2025-11-25"
	newEra     = "2026-07-28"
)

// A web is a door that is served over HTTP at its own address.
type web struct {
	*world
	url    string // ends in /mcp
	client *http.Client
	server *streamable.Server
	stop   context.CancelFunc
	done   chan error // the error of Serve
}

// An httpChange is a change to a web's configuration, before it is served.
type httpChange func(*streamable.Config)

func withLimits(l streamable.Limits) httpChange {
	return func(c *streamable.Config) { c.Limits = l }
}

func withHTTPLimits(l httpdoor.Limits) httpChange {
	return func(c *streamable.Config) { c.HTTP.Limits = l }
}

// tokens is a Verifier that accepts a principal as its own token.
type tokens map[string]bool

func (k tokens) Verify(_ context.Context, token string) (string, error) {
	if !k[token] {
		return "", &bearer.Error{Code: bearer.InvalidToken, Description: "no \"such\" token"}
	}
	return token, nil
}

func withTokens(c *streamable.Config) { c.HTTP.Verifier = tokens{"alice": true, "bob": true} }

// serve serves the world's door until the end of the test.
func (w *world) serve(t *testing.T, changes ...httpChange) *web {
	t.Helper()
	var cfg streamable.Config
	for _, c := range changes {
		c(&cfg)
	}
	server, err := w.door.HTTP(cfg)
	assert.NilError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	s := &web{
		world: w, server: server, stop: stop, done: make(chan error, 1),
		url:    "http://" + listener.Addr().String() + "/mcp",
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2000}},
	}
	go func() { s.done <- server.Serve(ctx, listener); close(s.done) }()
	t.Cleanup(s.end)
	return s
}

func (s *web) end() {
	s.stop()
	<-s.done
	s.client.CloseIdleConnections()
}

// An httpRequest is one request, written out.
type httpRequest struct {
	method  string // POST if empty
	path    string // in the place of /mcp
	body    string
	headers map[string]string // "" removes one
}

func (s *web) request(ctx context.Context, v httpRequest) (*http.Response, error) {
	url, method := s.url, "POST"
	if v.path != "" {
		url = strings.TrimSuffix(s.url, "/mcp") + v.path
	}
	if v.method != "" {
		method = v.method
	}
	var reader io.Reader
	if v.body != "" {
		reader = strings.NewReader(v.body)
	}
	r, err := http.NewRequestWithContext(ctx, method, url, reader)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", acceptBoth)
	if method == "POST" {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, value := range v.headers {
		switch {
		case name == "Host":
			r.Host = value
		case value == "":
			r.Header.Del(name)
		default:
			r.Header.Set(name, value)
		}
	}
	return s.client.Do(r)
}

// do makes the request and returns the answer; the caller reads its body.
func (s *web) do(t *testing.T, v httpRequest) *http.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	response, err := s.request(ctx, v)
	assert.NilError(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// text makes the request and returns the whole answer.
func (s *web) text(t *testing.T, v httpRequest) (*http.Response, string) {
	t.Helper()
	response := s.do(t, v)
	b, err := io.ReadAll(response.Body)
	assert.NilError(t, err)
	return response, string(b)
}

// An sseEvent is one event of a stream, or a comment.
type sseEvent struct{ name, id, data, comment string }

// An sseReader reads events.
type sseReader struct{ scanner *bufio.Scanner }

func newSSEReader(r io.Reader) *sseReader {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 64<<20)
	return &sseReader{s}
}

// next returns the next event, and io.EOF after the last.
func (r *sseReader) next() (sseEvent, error) {
	var e sseEvent
	for r.scanner.Scan() {
		line := r.scanner.Text()
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "" && e == sseEvent{}:
		case line == "":
			return e, nil
		case name == "":
			e.comment = value
		case name == "event":
			e.name = value
		case name == "id":
			e.id = value
		case name == "data":
			e.data += value
		}
	}
	if err := r.scanner.Err(); err != nil {
		return e, err
	}
	return e, io.EOF
}

// message returns the next message of a stream; it skips comments and empty events.
func (r *sseReader) message() (message, sseEvent, error) {
	for {
		e, err := r.next()
		if err != nil {
			return message{}, e, err
		}
		if e.data == "" {
			continue
		}
		var m message
		if err := json.Unmarshal([]byte(e.data), &m); err != nil {
			return m, e, fmt.Errorf("not a message: %w: %s", err, e.data)
		}
		return m, e, nil
	}
}

// A caller is a client of the web, with the headers of its requests.
type caller struct {
	*web
	headers map[string]string
	next    int
}

func (s *web) as(principal string) *caller {
	c := &caller{web: s, headers: map[string]string{"Mcp-Protocol-Version": oldEra}}
	if principal != "" {
		c.headers["Authorization"] = "Bearer " + principal
	}
	return c
}

// modern makes the caller a stateless client.
func (c *caller) modern() *caller {
	c.headers["Mcp-Protocol-Version"] = newEra
	return c
}

const initialize = `{"jsonrpc":"2.0","id":"open","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"tester","version":"0"}}}`

// open opens a session.
func (c *caller) open(t *testing.T) *caller {
	t.Helper()
	response, text := c.text(t, httpRequest{body: initialize, headers: c.headers})
	id := response.Header.Get("Mcp-Session-Id")
	if response.StatusCode != http.StatusOK || id == "" {
		t.Fatalf("no session was opened: %s: %s", response.Status, text)
	}
	c.headers["Mcp-Session-Id"] = id
	response, text = c.text(t, httpRequest{body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`, headers: c.headers})
	assert.Equal(t, response.StatusCode, http.StatusAccepted, "%s %s", response.Status, text)
	return c
}

func (c *caller) session() string { return c.headers["Mcp-Session-Id"] }

// body is a request with the next id.
func (c *caller) body(method, params string) string {
	c.next++
	if c.headers["Mcp-Protocol-Version"] == newEra {
		meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"tester","version":"0"},"io.modelcontextprotocol/clientCapabilities":{}}`
		if params = strings.TrimPrefix(params, "{"); params != "}" {
			meta += ","
		}
		params = "{" + meta + params
		c.headers["Mcp-Method"] = method
		if method == "tools/call" {
			var p struct{ Name string }
			_ = json.Unmarshal([]byte(params), &p)
			c.headers["Mcp-Name"] = p.Name
		}
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, c.next, method, params)
}

// post sends a request and returns the stream of its answer.
func (c *caller) post(t *testing.T, method, params string) (*http.Response, *sseReader) {
	t.Helper()
	response := c.do(t, httpRequest{body: c.body(method, params), headers: c.headers})
	return response, newSSEReader(response.Body)
}

// ask sends a request and returns its answer.
func (c *caller) ask(t *testing.T, method, params string) message {
	t.Helper()
	response, events := c.post(t, method, params)
	if response.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(response.Body)
		t.Fatalf("%s: %s", response.Status, b)
	}
	m, _, err := events.message()
	assert.NilError(t, err)
	assert.Equal(t, string(m.ID), fmt.Sprint(c.next), "%d %+v", c.next, m)
	return m
}

// lives asserts that the server answers the caller.
func (c *caller) lives(t *testing.T) {
	t.Helper()
	c.ask(t, "tools/call", exec(sayTool, `{}`)).result(t).succeeds(t)
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		assert.Assert(t, !time.Now().After(end), "%s: that does not come", what)
	}
}

// pictureApp is an app with a tool "say" that returns an image.
func (w *world) pictureApp(id string, picture []byte) *aai.App {
	return &aai.App{ID: id, Name: "Picture", Digest: "d1", Tools: []*aai.Tool{
		tool(sayTool, aai.Reads, func(context.Context, *aai.Call) (*aai.Result, error) {
			return &aai.Result{Text: "seen", Images: []aai.Image{{MIME: "image/png", Data: picture}}}, nil
		}),
	}}
}

func withSSE(c *streamable.Config) { c.LegacySSE = true }

// TestSSEServesTheSDKsClient tests the transport of 2024-11-05 with a client for it.
func TestSSEServesTheSDKsClient(t *testing.T) {
	s := newWorld(t).serve(t, withTokens, withSSE)
	client := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "0"}, nil)
	session, err := client.Connect(t.Context(), &mcp.SSEClientTransport{
		Endpoint:   strings.TrimSuffix(s.url, "/mcp") + "/sse",
		HTTPClient: &http.Client{Transport: withToken{s.client.Transport, "alice"}},
	}, nil)
	assert.NilError(t, err)
	defer session.Close() //nolint:errcheck // the test is over
	for range 3 {
		result, err := session.CallTool(t.Context(), callOf(notes, addTool, nil))
		assert.NilError(t, err, "%+v", result)
		assert.Assert(t, !result.IsError, "the call gave %+v, %v", result, err)
		c := (<-s.added).Caller
		assert.Check(t, is.Equal(c.Principal, "alice"), "%+v", c)
		assert.Check(t, c.Session != "", "the caller is %+v", c)
		assert.Check(t, is.Equal(c.Name, "tester"), "%+v", c)
	}
}

// TestSSEIsItsOwners checks that only the principal that opened a session can send messages to it.
func TestSSEIsItsOwners(t *testing.T) {
	s := newWorld(t).serve(t, withTokens, withSSE, withLimits(streamable.Limits{SessionsPerCaller: 1}))
	token := func(name string) map[string]string { return map[string]string{"Authorization": "Bearer " + name} }
	if response, _ := s.text(t, httpRequest{method: "GET", path: "/sse"}); response.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a token: %s", response.Status)
	}
	response := s.do(t, httpRequest{method: "GET", path: "/sse", headers: token("alice")})
	events := newSSEReader(response.Body)
	e, err := events.next()
	assert.NilError(t, err, "%+v", e)
	assert.Equal(t, e.name, "endpoint", "%+v", e)
	assert.Assert(t, strings.HasPrefix(e.data, "/sse?sessionid="), "the stream began with %+v, %v", e, err)
	if response, text := s.text(t, httpRequest{path: e.data, body: initialize, headers: token("bob")}); response.StatusCode != http.StatusNotFound {
		t.Errorf("another's message: %s: %s", response.Status, text)
	}
	if response, text := s.text(t, httpRequest{path: e.data, body: "nonsense", headers: token("alice")}); response.StatusCode != http.StatusBadRequest {
		t.Errorf("nonsense: %s: %s", response.Status, text)
	}
	if response, _ := s.text(t, httpRequest{method: "GET", path: "/sse", headers: token("alice")}); response.StatusCode != http.StatusTooManyRequests {
		t.Errorf("one session too many: %s", response.Status)
	}
	if response, text := s.text(t, httpRequest{path: e.data, body: initialize, headers: token("alice")}); response.StatusCode != http.StatusAccepted {
		t.Errorf("%s: %s", response.Status, text)
	}
	m, _, err := events.message()
	assert.NilError(t, err, "%+v", m)
	assert.Equal(t, string(m.ID), `"open"`, "%+v", m)
	assert.Assert(t, m.Error == nil, "the handshake gave %+v, %v", m, err)
	_ = response.Body.Close()
	eventually(t, "the session ends with its stream", func() bool {
		response, _ := s.text(t, httpRequest{path: e.data, body: ping, headers: token("alice")})
		return response.StatusCode == http.StatusNotFound
	})
	eventually(t, "its place is free", func() bool { return s.server.SessionCount() == 0 })
	response = s.do(t, httpRequest{method: "GET", path: "/sse", headers: token("alice")})
	assert.Check(t, is.Equal(response.StatusCode, http.StatusOK), "another session: %s", response.Status)
}
