package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// connectHTTP connects the SDK's own client, with the version.
func (s *web) connectHTTP(t *testing.T, version, token string, options *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "0"}, options)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	transport := &mcp.StreamableClientTransport{Endpoint: s.url, HTTPClient: &http.Client{Transport: withToken{s.client.Transport, token}}}
	session, err := client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	assert.NilError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return session
}

type withToken struct {
	next  http.RoundTripper
	token string
}

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if w.token != "" {
		r.Header.Set("Authorization", "Bearer "+w.token)
	}
	return w.next.RoundTrip(r)
}

func TestHTTPServesBothErasOnOneAddress(t *testing.T) {
	s := newWorld(t).serve(t, withTokens)
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			session := s.connectHTTP(t, version, "alice", nil)
			got := session.InitializeResult().ProtocolVersion
			assert.Check(t, is.Equal(got, version), "%s was agreed on", got)
			tools, err := session.ListTools(t.Context(), nil)
			assert.NilError(t, err, "%+v", tools)
			assert.Assert(t, is.Len(tools.Tools, 2), "%+v", tools)
			result, err := session.CallTool(t.Context(), callOf(notes, addTool, map[string]any{"text": version}))
			assert.NilError(t, err, "%+v", result)
			assert.Assert(t, !result.IsError, "the call gave %+v, %v", result, err)
			call := <-s.added
			assert.Check(t, is.Equal(call.Args["text"], version), "the call had %v", call.Args)
			assert.Check(t, is.Equal(version < newEra, (session.ID() != "")), "%q", session.ID())
		})
	}
}

// TestHTTPEras checks that the version header decides, and that requests of another version are refused.
func TestHTTPEras(t *testing.T) {
	s := newWorld(t).serve(t)
	old, modern := s.as("").open(t), s.as("").modern()
	list := modern.body("tools/list", "{}")
	with := func(headers ...string) map[string]string {
		all := map[string]string{"Mcp-Protocol-Version": newEra, "Mcp-Method": "tools/list"}
		for i := 0; i < len(headers); i += 2 {
			all[headers[i]] = headers[i+1]
		}
		return all
	}
	for _, c := range []struct {
		name   string
		visit  httpRequest
		status int
		says   string
	}{
		{"new", httpRequest{body: list, headers: with()}, 200, `"resultType":"complete"`},
		{"new, with the id of a session", httpRequest{body: list, headers: with("Mcp-Session-Id", old.session())}, 200, `"resultType":"complete"`},
		{"new, without its header", httpRequest{body: list, headers: with("Mcp-Protocol-Version", "")}, 400, "-32020"},
		{"new, with an old header", httpRequest{body: list, headers: with("Mcp-Protocol-Version", oldEra, "Mcp-Session-Id", old.session())}, 400, "-32022"},
		{"of the future", httpRequest{body: strings.ReplaceAll(list, newEra, "2099-01-01"), headers: with("Mcp-Protocol-Version", "2099-01-01")}, 400, "-32022"},
		{"new, but it does not describe itself", httpRequest{body: `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, headers: with()}, 400, "-32602"},
		{"new, but it opens a session", httpRequest{body: initialize, headers: with("Mcp-Method", "initialize")}, 400, "-32602"},
		{"a new stream", httpRequest{method: "GET", headers: with()}, 405, ""},
		{"the end of a new session", httpRequest{method: "DELETE", headers: with("Mcp-Session-Id", old.session())}, 405, ""},
		{"of no version", httpRequest{body: ping, headers: with("Mcp-Protocol-Version", "1999-01-01", "Mcp-Session-Id", old.session())}, 400, ""},
	} {
		response, text := s.text(t, c.visit)
		if response.StatusCode != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%s: %s: %s", c.name, response.Status, text)
		}
	}
	old.lives(t)
	n := s.server.SessionCount()
	assert.Check(t, is.Equal(n, 1), "%d sessions are open", n)
}

// TestHTTPCallers tests the Caller of calls over HTTP.
func TestHTTPCallers(t *testing.T) {
	s := newWorld(t).serve(t, withTokens)
	who := func(c *caller) aai.Caller {
		c.ask(t, "tools/call", exec(addTool, `{}`)).result(t).succeeds(t)
		return (<-s.added).Caller
	}
	first, second := s.as("alice").open(t), s.as("alice").open(t)
	a, b := who(first), who(second)
	if a.Session != first.session() || b.Session != second.session() || a.Session == b.Session {
		t.Errorf("sessions %q and %q; callers %+v and %+v", first.session(), second.session(), a, b)
	}
	for _, c := range []aai.Caller{a, b} {
		assert.Check(t, is.Equal(c.Principal, "alice"), "%+v", c)
		assert.Check(t, is.Equal(c.Door, aai.DoorMCP), "%+v", c)
		assert.Check(t, is.Equal(c.Name, "tester"), "%+v", c)
	}
	alice, again, bob := who(s.as("alice").modern()), who(s.as("alice").modern()), who(s.as("bob").modern())
	assert.Check(t, is.Equal(alice, again))
	assert.Check(t, is.Equal(alice.Principal, "alice"))
	assert.Check(t, alice.Session != "", "without sessions the callers are %+v and %+v", alice, again)
	assert.Check(t, is.Equal(bob.Principal, "bob"), "%+v", bob)
	assert.Check(t, bob.Session != alice.Session, "the other caller is %+v", bob)
}

// TestHTTPAgentsThatShareAToken checks that they have one identity, with a conversation for each name,
// and that a name gives no access to another token's.
func TestHTTPAgentsThatShareAToken(t *testing.T) {
	s := newWorld(t).serve(t, withTokens)
	who := func(principal, name string) aai.Caller {
		c := s.as(principal).modern()
		body := strings.Replace(c.body("tools/call", exec(addTool, `{}`)), `"name":"tester"`, fmt.Sprintf(`"name":%q`, name), 1)
		response, text := c.text(t, httpRequest{body: body, headers: c.headers})
		assert.Equal(t, response.StatusCode, http.StatusOK, "%s %s", response.Status, text)
		return (<-s.added).Caller
	}
	good, evil, stranger := who("alice", "good"), who("alice", "evil"), who("bob", "good")
	assert.Check(t, is.Equal(good.Identity, "http:alice"))
	assert.Check(t, is.Equal(evil.Identity, good.Identity))
	assert.Check(t, is.Equal(stranger.Identity, "http:bob"))
	if good.Conversation() == evil.Conversation() || good.Conversation() == stranger.Conversation() || good != who("alice", "good") {
		t.Errorf("conversations %q, %q and %q", good.Conversation(), evil.Conversation(), stranger.Conversation())
	}
	nobody := newWorld(t).serve(t).as("").modern()
	nobody.ask(t, "tools/call", exec(addTool, `{}`)).result(t).succeeds(t)
	c := (<-nobody.added).Caller
	assert.Check(t, is.Equal(c.Identity, ""), "without a token it is %q", c.Identity)
}

// TestNothingCrossesOverHTTP tests two agents with the same name and each other's aliases, references,
// sessions and outputs; TestTasksOverHTTP tests tasks.
func TestNothingCrossesOverHTTP(t *testing.T) {
	for name, open := range map[string]func(*caller) *caller{
		"sessions":  func(c *caller) *caller { return c.open(t) },
		"stateless": (*caller).modern,
	} {
		t.Run(name, func(t *testing.T) {
			s := newWorld(t, withDesktop, withProfile("all"), adding(answering(aai.Result{Text: strings.Repeat("x", 200<<10)}))).serve(t, withTokens)
			alice, bob := open(s.as("alice")), open(s.as("bob"))
			window := func(c *caller, tool, args string) message {
				t.Helper()
				return c.ask(t, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args))
			}
			window(alice, "ax_connect", `{"app":"Editor","alias":"mine"}`).result(t).succeeds(t)
			window(alice, "ax_get_tree", `{"app":"mine"}`).result(t).succeeds(t)
			window(alice, "ax_click", `{"app":"mine","query":"e1"}`).result(t)
			code := window(bob, "ax_get_tree", `{"app":"mine"}`).result(t).code()
			assert.Check(t, is.Equal(code, string(aai.AppNotFound)), "by the other's alias: %q", code)
			assert.Check(t, window(bob, "ax_click", `{"app":"Editor","query":"e2"}`).result(t).code() != "", "the other's reference is good")
			window(alice, "ax_click", `{"app":"Editor","query":"e2"}`).result(t).succeeds(t)
			if s := alice.session(); s != "" {
				headers := maps.Clone(bob.headers)
				headers["Mcp-Session-Id"] = s
				response, text := bob.text(t, httpRequest{body: bob.body("tools/list", "{}"), headers: headers})
				assert.Check(t, is.Equal(response.StatusCode, http.StatusNotFound), "in the other's session: %s %s", response.Status, text)
			}
			var got longAnswer
			err := json.Unmarshal(alice.ask(t, "tools/call", work(``)).Result, &got)
			assert.NilError(t, err, "%+v", got)
			assert.Assert(t, got.StructuredContent.Resource != "", "%+v", got)
			headers := func(c *caller) { c.headers["Mcp-Name"] = got.StructuredContent.Resource }
			for _, c := range []*caller{alice, bob} {
				headers(c)
				_, m := c.tell(t, "resources/read", fmt.Sprintf(`{"uri":%q}`, got.StructuredContent.Resource), got.StructuredContent.Resource)
				assert.Check(t, is.Equal((m.Error == nil), (c == alice)), "the output, read by the other %v: %+v", c == bob, m.Error)
			}
		})
	}
}

// TestHTTPSessionIsItsOwners checks that the id of a session is useless for another principal, and does
// not even reveal that the session exists.
func TestHTTPSessionIsItsOwners(t *testing.T) {
	s := newWorld(t).serve(t, withTokens)
	alice := s.as("alice").open(t)
	_, unknown := s.text(t, httpRequest{body: `{"jsonrpc":"2.0","id":1,"method":"ping"}`, headers: map[string]string{
		"Authorization": "Bearer bob", "Mcp-Session-Id": "NOSUCHSESSION", "Mcp-Protocol-Version": oldEra,
	}})
	for _, v := range []httpRequest{
		{body: `{"jsonrpc":"2.0","id":1,"method":"ping"}`}, {method: "GET"}, {method: "DELETE"},
	} {
		v.headers = map[string]string{"Authorization": "Bearer bob", "Mcp-Session-Id": alice.session(), "Mcp-Protocol-Version": oldEra}
		response, text := s.text(t, v)
		if response.StatusCode != http.StatusNotFound || text != unknown {
			t.Errorf("%s: %s: %s", v.method, response.Status, text)
		}
	}
	alice.lives(t)
}

func TestHTTPSessionEnds(t *testing.T) {
	s := newWorld(t).serve(t)
	c := s.as("").open(t)
	// A running call ends with its session.
	response, _ := c.post(t, "tools/call", exec(blockTool, `{"text":"a"}`))
	<-s.entered
	if response, text := c.text(t, httpRequest{method: "DELETE", headers: c.headers}); response.StatusCode != http.StatusNoContent {
		t.Fatalf("%s: %s", response.Status, text)
	}
	err := <-s.ended
	assert.Check(t, is.ErrorIs(err, context.Canceled), "the call ended with %v", err)
	_ = response.Body.Close()
	for _, method := range []string{"POST", "GET", "DELETE"} {
		response, _ := c.text(t, httpRequest{method: method, body: c.body("ping", "{}"), headers: c.headers})
		assert.Check(t, is.Equal(response.StatusCode, http.StatusNotFound), "%s of a session that has ended: %s", method, response.Status)
	}
	s.as("").open(t).lives(t)
}

// TestHTTPCancel checks that a session's call is cancelled by the notification, and gets no other
// answer.
func TestHTTPCancel(t *testing.T) {
	s := newWorld(t).serve(t)
	c := s.as("").open(t)
	c.post(t, "tools/call", exec(blockTool, `{"text":"a"}`))
	<-s.entered
	response, text := c.text(t, httpRequest{headers: c.headers, body: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`})
	assert.Equal(t, response.StatusCode, http.StatusAccepted, "%s %s", response.Status, text)
	err := <-s.ended
	assert.Check(t, is.ErrorIs(err, context.Canceled), "the call ended with %v", err)
	c.lives(t)
}

// TestHTTPTellsOfChanges checks that the stream of a session contains messages that belong to no request,
// and is resumed after the last of them.
func TestHTTPTellsOfChanges(t *testing.T) {
	s := newWorld(t).serve(t)
	c := s.as("").open(t)
	stream := c.do(t, httpRequest{method: "GET", headers: c.headers})
	events := newSSEReader(stream.Body)
	s.catalog.edit(func(apps []*aai.App) []*aai.App { return append(apps, s.app("org.example.More", "More", "More.")) })
	var methods []string
	last := ""
	for len(methods) < 2 {
		m, e, err := events.message()
		assert.NilError(t, err)
		last = e.id
		assert.Check(t, e.id != "", "an event has no id, so it cannot be resumed after it")
		methods = append(methods, m.Method)
	}
	slices.Sort(methods)
	assert.Check(t, slices.Equal(methods, []string{"notifications/resources/list_changed", "notifications/tools/list_changed"}), "the stream had %q", methods)
	_ = stream.Body.Close()
	s.catalog.edit(func(apps []*aai.App) []*aai.App { return apps[:2] })
	_, events = c.resume(t, last)
	m, _, err := events.message()
	assert.NilError(t, err)
	assert.Check(t, is.Contains(methods, m.Method), "the resumed stream has %+v", m)
}

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
