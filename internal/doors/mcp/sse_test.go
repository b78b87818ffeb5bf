package mcp_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/doors/mcp/streamable"
)

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
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "aai_exec", Arguments: map[string]any{"app": notes, "tool": addTool}})
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
