package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/doors/mcp/streamable"
)

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// TestHTTPRefuses tests requests that must be refused, the status of each, and that the door continues.
func TestHTTPRefuses(t *testing.T) {
	s := newWorld(t).serve(t, withTokens, func(c *streamable.Config) { c.HTTP.Origins = []string{"https://app.example.com"} })
	good := s.as("alice").open(t)
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	for _, c := range []struct {
		name   string
		visit  httpRequest
		status int
		says   string // in the error's message
	}{
		{"a rebinding Host", httpRequest{headers: map[string]string{"Host": "evil.example:8741"}}, 403, "header Host"},
		{"a Host that begins like ours", httpRequest{headers: map[string]string{"Host": "127.0.0.1.evil.example"}}, 403, "header Host"},
		{"a Host that ends like ours", httpRequest{headers: map[string]string{"Host": "evil-localhost"}}, 403, "header Host"},
		{"another address as the Host", httpRequest{headers: map[string]string{"Host": "192.0.2.1"}}, 403, "header Host"},
		{"all addresses as the Host", httpRequest{headers: map[string]string{"Host": "0.0.0.0"}}, 403, "header Host"},
		{"a foreign Origin", httpRequest{headers: map[string]string{"Origin": "https://evil.example"}}, 403, "header Origin"},
		{"an Origin that begins like ours", httpRequest{headers: map[string]string{"Origin": "http://localhost.evil.example"}}, 403, "header Origin"},
		{"an Origin with somebody before the host", httpRequest{headers: map[string]string{"Origin": "http://localhost@evil.example"}}, 403, "header Origin"},
		{"an Origin without a name", httpRequest{headers: map[string]string{"Origin": "null"}}, 403, "header Origin"},
		{"an Origin that is a file", httpRequest{headers: map[string]string{"Origin": "file://localhost"}}, 403, "header Origin"},
		{"an Origin beside an allowed one", httpRequest{headers: map[string]string{"Origin": "https://app.example.com.evil.example"}}, 403, "header Origin"},
		{"no token", httpRequest{headers: map[string]string{"Authorization": ""}}, 401, "a bearer token is needed"},
		{"a wrong token", httpRequest{headers: map[string]string{"Authorization": "Bearer alicf"}}, 401, "invalid_token"},
		{"an empty token", httpRequest{headers: map[string]string{"Authorization": "Bearer "}}, 401, "a bearer token is needed"},
		{"the token without its scheme", httpRequest{headers: map[string]string{"Authorization": "alice"}}, 401, "a bearer token is needed"},
		{"the token in another scheme", httpRequest{headers: map[string]string{"Authorization": "Basic alice"}}, 401, "a bearer token is needed"},
		{"the token in the address", httpRequest{path: "/mcp?access_token=alice", headers: map[string]string{"Authorization": ""}}, 401, "a bearer token is needed"},
		{"a body of 5 MB", httpRequest{body: `{"jsonrpc":"2.0","id":1,"method":"ping","x":"` + strings.Repeat("x", 5_000_000) + `"}`}, 413, "too long"},
		{"no body", httpRequest{body: " "}, 400, "empty"},
		{"a batch of nothing", httpRequest{body: "[]"}, 400, "the batch is empty, or has more than 100 messages"},
		{"a batch of 101", httpRequest{body: "[" + strings.Repeat(ping+",", 100) + ping + "]"}, 400, "the batch is empty, or has more than 100 messages"},
		{"no JSON", httpRequest{body: "jsonrpc"}, 400, "not valid JSON"},
		{"no UTF-8", httpRequest{body: "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}"}, 400, "not valid UTF-8"},
		{"no JSON-RPC", httpRequest{body: `{"id":1,"method":"ping"}`}, 400, "not JSON-RPC 2.0"},
		{"an id that would come back as another", httpRequest{body: `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`}, 400, "no whole number"},
		{"deep nesting", httpRequest{body: `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":` + deep + `}}`}, 400, "nested more than"},
		{"an empty batch", httpRequest{body: `[]`}, 400, "the batch is empty"},
		{"a batch of thousands", httpRequest{body: "[" + strings.Repeat(ping+",", 5000) + ping + "]"}, 400, "more than 100"},
		{"an unknown session", httpRequest{headers: map[string]string{"Mcp-Session-Id": "nobody's"}}, 404, "no such session"},
		{"no session", httpRequest{headers: map[string]string{"Mcp-Session-Id": ""}}, 400, "Mcp-Session-Id is missing"},
		{"no such address", httpRequest{path: "/mcp/admin"}, 404, "nothing here"},
		{"SSE where there is none", httpRequest{method: "GET", path: "/sse"}, 404, "nothing here"},
		{"metadata where there is none", httpRequest{method: "GET", path: "/.well-known/oauth-protected-resource"}, 404, "nothing here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			headers := maps.Clone(good.headers)
			maps.Copy(headers, c.visit.headers)
			c.visit.headers = headers
			if c.visit.body == "" && c.visit.method == "" {
				c.visit.body = ping
			}
			response, text := s.text(t, c.visit)
			assert.Equal(t, response.StatusCode, c.status, "%s %s", response.Status, text)
			var m struct {
				JSONRPC string
				ID      json.RawMessage
				Error   struct {
					Code    int
					Message string
				}
			}
			err := json.Unmarshal([]byte(text), &m)
			assert.NilError(t, err, text)
			assert.Equal(t, m.JSONRPC, "2.0", text)
			assert.Equal(t, string(m.ID), "null", text)
			assert.Assert(t, m.Error.Code != 0, "the answer is %s", text)
			assert.Assert(t, is.Contains(m.Error.Message, c.says), text)
			assert.Check(t, is.Equal(response.Header.Get("Access-Control-Allow-Origin"), ""), "a page of another origin may read the answer")
			challenge := response.Header.Get("WWW-Authenticate")
			assert.Check(t, is.Equal((c.status == 401), strings.HasPrefix(challenge, `Bearer realm="aai-gateway"`)), "%q", challenge)
			assert.Check(t, is.Equal(strings.Contains(c.says, "invalid_token"), strings.Contains(challenge, `error="invalid_token"`)), "%q", challenge)
		})
	}
	good.lives(t)
	calls := s.journal.outcomes(sayTool)
	assert.Assert(t, is.Len(calls, 1))
	assert.Equal(t, calls[""], 1)
}

func TestHTTPHeaderFlood(t *testing.T) {
	s := newWorld(t).serve(t)
	good := s.as("").open(t)
	headers := map[string]string{}
	for i := range 40 {
		headers[fmt.Sprint("X-Flood-", i)] = strings.Repeat("x", 1024)
	}
	response, err := s.request(t.Context(), httpRequest{body: ping, headers: headers})
	if err == nil { // else the server closed the connection before the headers were complete
		defer response.Body.Close() //nolint:errcheck // nothing was written
		if response.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			b, _ := io.ReadAll(response.Body)
			t.Errorf("%s: %s", response.Status, b)
		}
	}
	good.lives(t)
}

// TestHTTPAdmits tests requests from this computer, by each of its names, and other permitted ones.
func TestHTTPAdmits(t *testing.T) {
	s := newWorld(t).serve(t, func(c *streamable.Config) {
		c.HTTP.Origins, c.HTTP.Hosts = []string{"https://app.example.com"}, []string{"gateway.example.com"}
	})
	good := s.as("").open(t)
	for _, headers := range []map[string]string{
		{"Host": "localhost"}, {"Host": "LOCALHOST:1"}, {"Host": "127.0.0.1:8741"}, {"Host": "127.8.8.8"}, {"Host": "[::1]:8741"}, {"Host": "[::1]"},
		{"Host": "localhost."}, {"Host": "gateway.example.com"}, {"Host": "gateway.example.com:443"},
		{"Origin": "http://localhost:6274"}, {"Origin": "http://127.0.0.1"}, {"Origin": "http://[::1]:99"}, {"Origin": "https://app.example.com"},
		{"Host": "gateway.example.com", "Origin": "https://gateway.example.com"},
	} {
		all := maps.Clone(good.headers)
		maps.Copy(all, headers)
		response, text := s.text(t, httpRequest{body: ping, headers: all})
		assert.Check(t, is.Equal(response.StatusCode, http.StatusOK), "%v %s %s", headers, response.Status, text)
		allowed := response.Header.Get("Access-Control-Allow-Origin")
		assert.Check(t, is.Equal(headers["Origin"] == "https://app.example.com", (allowed == headers["Origin"] && allowed != "")), "%v: pages of %q may read it", headers, allowed)
	}
	response, _ := s.text(t, httpRequest{method: "OPTIONS", headers: map[string]string{
		"Origin": "https://app.example.com", "Access-Control-Request-Method": "POST",
	}})
	assert.Check(t, is.Equal(response.StatusCode, http.StatusNoContent), "%s %v", response.Status, response.Header)
	assert.Check(t, is.Contains(response.Header.Get("Access-Control-Allow-Headers"), "Authorization"), "%s %v", response.Status, response.Header)
}

// TestHTTPLimitsOfSessions tests the limits of sessions.
func TestHTTPLimitsOfSessions(t *testing.T) {
	s := newWorld(t).serve(t, withTokens, withLimits(streamable.Limits{SessionsPerCaller: 2, AllSessions: 3}))
	first := s.as("alice").open(t)
	s.as("alice").open(t)
	refused := func(principal string, status int) {
		t.Helper()
		response, text := s.text(t, httpRequest{body: initialize, headers: s.as(principal).headers})
		assert.Check(t, is.Equal(response.StatusCode, status), "%s %s", response.Status, text)
		assert.Check(t, response.Header.Get("Retry-After") != "", "%s %s", response.Status, text)
	}
	refused("alice", http.StatusTooManyRequests)
	bob := s.as("bob").open(t)
	refused("bob", http.StatusServiceUnavailable)
	first.lives(t)
	bob.lives(t)
	// A refused session is not counted, and an ended one no longer.
	s.text(t, httpRequest{method: "DELETE", headers: first.headers})
	s.as("alice").open(t).lives(t)
	refused("bob", http.StatusServiceUnavailable)
	// Neither is a failed handshake.
	s.text(t, httpRequest{method: "DELETE", headers: bob.headers})
	for range 5 {
		s.text(t, httpRequest{body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":7}`, headers: s.as("bob").headers})
		s.text(t, httpRequest{body: initialize, headers: map[string]string{"Authorization": "Bearer bob", "Accept": "text/html"}})
	}
	s.as("bob").open(t).lives(t)
}

// TestHTTPLimitsOfRequests tests the limits of open requests.
func TestHTTPLimitsOfRequests(t *testing.T) {
	s := newWorld(t).serve(t, withTokens, withLimits(streamable.Limits{RequestsPerSession: 2, StatelessPerCaller: 3, KeepAlive: 20 * time.Millisecond}))
	c := s.as("alice").open(t)
	other := s.as("alice").open(t)
	for i := range 2 {
		c.post(t, "tools/call", exec(blockTool, fmt.Sprintf(`{"text":"%d"}`, i)))
		<-s.entered
	}
	response, text := c.text(t, httpRequest{body: ping, headers: c.headers})
	assert.Check(t, is.Equal(response.StatusCode, http.StatusTooManyRequests), "%s %s", response.Status, text)
	assert.Check(t, is.Equal(response.Header.Get("Retry-After"), "1"), "%s %s", response.Status, text)
	other.lives(t)
	for i := range 3 {
		modern := s.as("alice").modern()
		modern.post(t, "tools/call", exec(blockTool, fmt.Sprintf(`{"text":"%d"}`, i)))
		<-s.entered
	}
	modern := s.as("alice").modern()
	response, text = modern.text(t, httpRequest{body: modern.body("tools/list", "{}"), headers: modern.headers})
	assert.Check(t, is.Equal(response.StatusCode, http.StatusTooManyRequests), "%s %s", response.Status, text)
	s.as("bob").modern().lives(t)
	close(s.release)
	eventually(t, "the session takes requests again", func() bool {
		response, _ := c.text(t, httpRequest{body: c.body("ping", "{}"), headers: c.headers})
		return response.StatusCode == http.StatusOK
	})
}

// TestHTTPLimitsOfCallsThatGoOn checks that in a session a call continues after its request, and counts
// until it ends.
func TestHTTPLimitsOfCallsThatGoOn(t *testing.T) {
	s := newWorld(t).serve(t, withLimits(streamable.Limits{RequestsPerSession: 2}))
	defer close(s.release)
	c := s.as("").open(t)
	for i := range 2 {
		ctx, hangUp := context.WithCancel(t.Context())
		body, gone := c.body("tools/call", exec(blockTool, fmt.Sprintf(`{"text":"%d"}`, i))), make(chan bool)
		go func() {
			defer close(gone)
			if response, err := c.request(ctx, httpRequest{body: body, headers: c.headers}); err == nil {
				_ = response.Body.Close()
			}
		}()
		<-s.entered
		hangUp()
		<-gone
	}
	said := ""
	eventually(t, "the requests have gone", func() bool {
		response, text := c.text(t, httpRequest{body: c.body("ping", "{}"), headers: c.headers})
		said = text
		return response.StatusCode == http.StatusOK
	})
	assert.Check(t, is.Contains(said, "too many requests of this session are running"))
}
