package mcp_test

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// TestUnauthenticatedConnectionsBlockNobody checks that thousands of silent connections do not block an
// authenticated client, connected before or after them.
func TestUnauthenticatedConnectionsBlockNobody(t *testing.T) {
	const many, kept = 3000, 1024
	s := newWorld(t).serve(t, withTokens)
	before := s.as("alice").open(t)
	address, err := url.Parse(s.url)
	assert.NilError(t, err)
	idle := make([]net.Conn, 0, many)
	defer func() {
		for _, c := range idle {
			_ = c.Close()
		}
	}()
	for range many {
		c, err := (&net.Dialer{Timeout: patience}).DialContext(t.Context(), "tcp", address.Host)
		assert.NilError(t, err, "%d", len(idle))
		idle = append(idle, c)
	}
	before.lives(t)
	s.client = &http.Client{Transport: &http.Transport{}}
	defer s.client.CloseIdleConnections()
	s.as("bob").open(t).lives(t)
	before.lives(t)
	// The oldest were closed before their time for a header was over.
	soon := time.Now().Add(5 * time.Second)
	for i, c := range idle[:many-kept] {
		_ = c.SetReadDeadline(soon)
		_, err := c.Read(make([]byte, 1))
		assert.Assert(t, err != nil, "connection %d of %d is still open: %v", i, many, err)
		assert.Assert(t, !errors.Is(err, os.ErrDeadlineExceeded), "connection %d of %d is still open: %v", i, many, err)
	}
}

// TestOnlyWhoHasATokenKeepsAConnection checks that only connections with a valid token are kept alive.
func TestOnlyWhoHasATokenKeepsAConnection(t *testing.T) {
	s := newWorld(t).serve(t, withTokens)
	alice := s.as("alice")
	for _, c := range []struct {
		name   string
		visit  httpRequest
		closes bool
	}{
		{"no token", httpRequest{body: ping, headers: map[string]string{"Authorization": ""}}, true},
		{"a wrong token", httpRequest{body: ping, headers: map[string]string{"Authorization": "Bearer eve"}}, true},
		{"a strange page", httpRequest{body: ping, headers: map[string]string{"Authorization": "Bearer alice", "Origin": "https://evil.example"}}, true},
		{"nothing", httpRequest{method: "GET", path: "/"}, true},
		{"a token", httpRequest{body: initialize, headers: alice.headers}, false},
		{"no token after one", httpRequest{body: ping}, false},
	} {
		response, text := s.text(t, c.visit)
		if closes := response.Close || strings.EqualFold(response.Header.Get("Connection"), "close"); closes != c.closes {
			t.Errorf("%s: closes: %v, after %s: %s", c.name, closes, response.Status, text)
		}
	}
}
