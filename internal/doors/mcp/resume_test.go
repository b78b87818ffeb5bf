package mcp_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/doors/httpdoor"
	"github.com/gybob/aai-gateway/internal/doors/mcp/streamable"
)

// drop sends a call of "block" on a new connection and waits until it runs. It returns the id of the
// last event, and the function that closes the connection.
func (c *caller) drop(t *testing.T) (last string, hangUp func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	response, err := c.request(ctx, httpRequest{body: c.body("tools/call", exec(blockTool, `{"text":"a"}`)), headers: c.headers})
	assert.NilError(t, err)
	t.Cleanup(func() { cancel(); _ = response.Body.Close() })
	first, err := newSSEReader(response.Body).next()
	assert.NilError(t, err, "%+v", first)
	assert.Assert(t, first.id != "", "the stream began with %+v, %v", first, err)
	<-c.entered
	return first.id, cancel
}

// resume requests the events after the given one.
func (c *caller) resume(t *testing.T, last string) (*http.Response, *sseReader) {
	t.Helper()
	headers := maps.Clone(c.headers)
	headers["Last-Event-ID"] = last
	response := c.do(t, httpRequest{method: "GET", headers: headers})
	return response, newSSEReader(response.Body)
}

// TestHTTPResumes: a client loses its connection during a call, reconnects, and gets the result; a call
// in a session does not end with a connection.
func TestHTTPResumes(t *testing.T) {
	for _, whenDone := range []bool{false, true} {
		t.Run(fmt.Sprintf("after the end %v", whenDone), func(t *testing.T) {
			s := newWorld(t).serve(t, withTokens)
			c := s.as("alice").open(t)
			last, hangUp := c.drop(t)
			hangUp()
			if whenDone {
				close(s.release)
				eventually(t, "the call ends", func() bool { return s.journal.outcomes(blockTool)[""] == 1 })
			}
			response, events := c.resume(t, last)
			assert.Equal(t, response.StatusCode, http.StatusOK, response.Status)
			if !whenDone {
				close(s.release)
			}
			m, e, err := events.message()
			assert.NilError(t, err)
			assert.Check(t, is.Equal(string(m.ID), "1"), "%+v %+v", m, e)
			assert.Check(t, is.Equal(m.result(t).Content[0].Text, "released"), "%+v %+v", m, e)
			assert.Check(t, e.id != last, "the result is %+v, in %+v", m, e)
			_, _, err = events.message()
			assert.Check(t, is.ErrorIs(err, io.EOF), "after the result comes %v", err)
			assert.Check(t, len(s.ended) <= 0, "the call was cancelled")
		})
	}
}

// TestHTTPResumesAHalfOpenStream: the client's network was interrupted, and the old connection still
// seems to be open.
func TestHTTPResumesAHalfOpenStream(t *testing.T) {
	s := newWorld(t).serve(t)
	c := s.as("").open(t)
	last, _ := c.drop(t) // without closing the connection
	response, events := c.resume(t, last)
	assert.Equal(t, response.StatusCode, http.StatusOK, response.Status)
	close(s.release)
	m, _, err := events.message()
	assert.NilError(t, err, "%+v", m)
	assert.Equal(t, m.result(t).Content[0].Text, "released", "%+v", m)
	// The session's own stream too.
	c.do(t, httpRequest{method: "GET", headers: c.headers})
	response, _ = c.resume(t, "_0")
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusBadRequest { // 400: there was no event 0
		t.Errorf("%s", response.Status)
	}
	c.lives(t)
}

// TestHTTPResumesOnlyWhatIsItsOwn checks that a stream's events are for its session alone.
func TestHTTPResumesOnlyWhatIsItsOwn(t *testing.T) {
	s := newWorld(t).serve(t, withTokens)
	alice := s.as("alice").open(t)
	last, hangUp := alice.drop(t)
	hangUp()
	close(s.release)
	eventually(t, "the call ends", func() bool { return s.journal.outcomes(blockTool)[""] == 1 })
	for _, other := range []*caller{s.as("bob").open(t), s.as("alice").open(t)} {
		response, _ := other.resume(t, last)
		if b, _ := io.ReadAll(response.Body); response.StatusCode != http.StatusBadRequest || strings.Contains(string(b), "released") {
			t.Errorf("%s: %s", response.Status, b)
		}
	}
	for _, wrong := range []string{"x", "_", "_-1", last + "_0", "NOSUCHSTREAM_0", strings.Repeat("9", 400)} {
		response, _ := alice.resume(t, wrong)
		assert.Check(t, is.Equal(response.StatusCode, http.StatusBadRequest), "%q %s", wrong, response.Status)
	}
	if _, events := alice.resume(t, last); true {
		m, _, err := events.message()
		assert.NilError(t, err, "%+v", m)
		assert.Equal(t, m.result(t).Content[0].Text, "released", "%+v", m)
	}
}

// TestHTTPVanishing checks that the call of a disconnected client without a session ends, because its
// result cannot be delivered.
func TestHTTPVanishing(t *testing.T) {
	s := newWorld(t).serve(t)
	c := s.as("").modern()
	ctx, hangUp := context.WithCancel(t.Context())
	body := c.body("tools/call", exec(blockTool, `{"text":"a"}`))
	gone := make(chan error, 1)
	go func() {
		response, err := c.request(ctx, httpRequest{body: body, headers: c.headers})
		if err == nil {
			_ = response.Body.Close()
		}
		gone <- err
	}()
	<-s.entered
	hangUp()
	err := <-s.ended
	assert.Check(t, is.ErrorIs(err, context.Canceled), "the call ended with %v", err)
	<-gone
	s.as("").modern().lives(t)
}

// TestHTTPSlowReader checks that a client that does not read delays no others, and is disconnected; in
// a session it can still get the answer.
func TestHTTPSlowReader(t *testing.T) {
	w := newWorld(t)
	const big = 4 << 20
	w.catalog.apps = append(w.catalog.apps, w.pictureApp("org.example.Big", make([]byte, big)))
	s := w.serve(t, withHTTPLimits(httpdoor.Limits{WriteTimeout: 300 * time.Millisecond}))
	c := s.as("").open(t)
	body := c.body("tools/call", `{"name":"aai_exec","arguments":{"app":"org.example.Big","tool":"say"}}`)
	conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), "/mcp"))
	assert.NilError(t, err)
	defer conn.Close() //nolint:errcheck // nothing was written
	assert.NilError(t, conn.(*net.TCPConn).SetReadBuffer(64<<10))
	_, err = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: %s\r\nContent-Type: application/json\r\nMcp-Protocol-Version: %s\r\nMcp-Session-Id: %s\r\nContent-Length: %d\r\n\r\n%s",
		acceptBoth, oldEra, c.session(), len(body), body)
	assert.NilError(t, err)
	// Only the bytes that fit into the buffers between both ends are ever sent.
	first := make([]byte, 1000)
	_, err = io.ReadFull(conn, first)
	assert.NilError(t, err)
	_, rest, _ := strings.Cut(string(first), "id: ")
	last, _, _ := strings.Cut(rest, "\n")
	c.lives(t) // while the other waits
	waits := func() bool {
		stacks := make([]byte, 4<<20)
		return strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "streamable.(*responseWriter).Write(")
	}
	eventually(t, "the answer waits for its reader", waits)
	eventually(t, "the reader is given up", func() bool { return !waits() })
	got := len(first)
	buffer := make([]byte, 1<<20)
	for {
		n, err := conn.Read(buffer)
		got += n
		if err != nil {
			break
		}
	}
	if got >= big*4/3 { // as base64; the system's own buffers may take as much as the picture itself
		t.Error("all of it was sent to a client that did not take it in time")
	}
	_, events := c.resume(t, strings.TrimSpace(last))
	m, _, err := events.message()
	assert.NilError(t, err, "%d", len(m.Result))
	assert.Equal(t, m.result(t).Content[0].Text, "seen", "%d", len(m.Result))
	assert.Assert(t, len(m.Result) >= big, "what was resumed has %d bytes, %v", len(m.Result), err)
}

// TestHTTPSlowUpload checks that the server does not wait for a slow body.
func TestHTTPSlowUpload(t *testing.T) {
	s := newWorld(t).serve(t, withHTTPLimits(httpdoor.Limits{BodyTimeout: 200 * time.Millisecond}))
	c := s.as("").open(t)
	read, write := io.Pipe()
	defer write.Close() //nolint:errcheck // nothing was written
	go func() { _, _ = io.WriteString(write, `{"jsonrpc":`) }()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url, read)
	assert.NilError(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Mcp-Session-Id", c.session())
	response, err := s.client.Do(r)
	assert.NilError(t, err)
	defer response.Body.Close() //nolint:errcheck // nothing was written
	assert.Check(t, is.Equal(response.StatusCode, http.StatusRequestTimeout), response.Status)
	c.lives(t)
}

// TestHTTPKeepsStreamsAlive checks that a silent stream gets comments at intervals, in every version,
// also before anything else. The server ignores a client's value of the exchange header.
func TestHTTPKeepsStreamsAlive(t *testing.T) {
	s := newWorld(t).serve(t, withLimits(streamable.Limits{KeepAlive: 20 * time.Millisecond}))
	comments := func(events *sseReader) {
		t.Helper()
		for n := 0; n < 3; {
			e, err := events.next()
			assert.NilError(t, err)
			if e.comment == "keep-alive" {
				n++
			}
		}
	}
	old := s.as("").open(t)
	comments(newSSEReader(old.do(t, httpRequest{method: "GET", headers: old.headers}).Body))
	older := s.as("")
	older.headers["Mcp-Protocol-Version"] = "2025-06-18" // in which nothing comes before the answer
	older.open(t)
	forger := s.as("").modern()
	forger.headers["Aai-Exchange"] = "another's"
	for _, c := range []*caller{old, older, s.as("").modern(), forger} {
		response, events := c.post(t, "tools/call", exec(blockTool, `{"text":"a"}`))
		<-s.entered
		assert.Check(t, strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream"), "the answer is %v", response.Header)
		comments(events)
		s.release <- struct{}{}
		m, _, err := events.message()
		assert.NilError(t, err, "%+v", m)
		assert.Equal(t, m.result(t).Content[0].Text, "released", "%+v", m)
	}
}

// TestHTTPLateError checks that an error with an HTTP status is sent as an event if the stream has
// begun.
func TestHTTPLateError(t *testing.T) {
	s := newWorld(t).serve(t, withLimits(streamable.Limits{KeepAlive: 10 * time.Millisecond}))
	c := s.as("").modern()
	c.headers["Mcp-Protocol-Version"] = newEra
	// An unknown tool is a protocol error; it waits for the journal here.
	s.journal.mu.Lock()
	response, events := c.post(t, "tools/call", `{"name":"nothing"}`)
	if e, err := events.next(); err != nil || e.comment == "" {
		t.Fatalf("%+v, %v", e, err)
	}
	s.journal.mu.Unlock()
	m, e, err := events.message()
	if err != nil || m.Error == nil || e.name != "message" || response.StatusCode != http.StatusOK {
		t.Errorf("the answer is %s, %+v, %v", response.Status, e, err)
	}
	// Before the stream it has its status.
	quick := s.as("").modern()
	response, text := quick.text(t, httpRequest{body: quick.body("tools/call", `{"name":"nothing"}`), headers: quick.headers})
	assert.Check(t, is.Equal(response.StatusCode, http.StatusBadRequest), "%s %s", response.Status, text)
}
