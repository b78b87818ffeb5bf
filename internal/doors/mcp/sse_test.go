package mcp_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

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
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close() //nolint:errcheck // the test is over
	for range 3 {
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "aai_exec", Arguments: map[string]any{"app": notes, "tool": addTool}})
		if err != nil || result.IsError {
			t.Fatalf("the call gave %+v, %v", result, err)
		}
		if c := (<-s.added).Caller; c.Principal != "alice" || c.Session == "" || c.Name != "tester" {
			t.Errorf("the caller is %+v", c)
		}
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
	if err != nil || e.name != "endpoint" || !strings.HasPrefix(e.data, "/sse?sessionid=") {
		t.Fatalf("the stream began with %+v, %v", e, err)
	}
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
	if m, _, err := events.message(); err != nil || string(m.ID) != `"open"` || m.Error != nil {
		t.Errorf("the handshake gave %+v, %v", m, err)
	}
	_ = response.Body.Close()
	eventually(t, "the session ends with its stream", func() bool {
		response, _ := s.text(t, httpRequest{path: e.data, body: ping, headers: token("alice")})
		return response.StatusCode == http.StatusNotFound
	})
	eventually(t, "its place is free", func() bool { return s.server.SessionCount() == 0 })
	if response := s.do(t, httpRequest{method: "GET", path: "/sse", headers: token("alice")}); response.StatusCode != http.StatusOK {
		t.Errorf("another session: %s", response.Status)
	}
}
