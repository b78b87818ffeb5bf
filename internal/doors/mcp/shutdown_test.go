package mcp_test

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/doors/httpdoor"
	"github.com/gybob/aai-gateway/internal/doors/mcp/streamable"
)

// TestHTTPSessionExpires checks that an unused session ends, and that one with an open stream or a
// running call does not.
func TestHTTPSessionExpires(t *testing.T) {
	s := newWorld(t).serve(t, withLimits(streamable.Limits{SessionIdle: 100 * time.Millisecond, SessionsPerCaller: 3}))
	idle, listening, calling := s.as("").open(t), s.as("").open(t), s.as("").open(t)
	stream := listening.do(t, httpRequest{method: "GET", headers: listening.headers})
	_, hangUp := calling.drop(t)
	hangUp()
	status := func(c *caller) int {
		response, _ := c.text(t, httpRequest{body: c.body("ping", "{}"), headers: c.headers})
		return response.StatusCode
	}
	// A request to the session would count as use; its slot is free when it has ended.
	eventually(t, "a session that nobody uses expires", func() bool {
		response, _ := s.text(t, httpRequest{body: initialize, headers: s.as("").headers})
		return response.StatusCode == http.StatusOK
	})
	n := status(idle)
	assert.Check(t, is.Equal(n, http.StatusNotFound), "the idle session answers %d", n)
	time.Sleep(300 * time.Millisecond)
	n = status(listening)
	assert.Check(t, is.Equal(n, 200), "the session whose stream is open answers %d", n)
	n = status(calling)
	assert.Check(t, is.Equal(n, 200), "the session whose call runs answers %d", n)
	close(s.release)
	_ = stream.Body.Close()
	eventually(t, "all expire in the end", func() bool {
		for range 3 {
			response, _ := s.text(t, httpRequest{body: initialize, headers: s.as("").headers})
			if response.StatusCode != http.StatusOK {
				return false
			}
		}
		return true
	})
}

// TestHTTPStarts checks that a request that waits for an app, or was refused, does not delay its
// caller's next ones, however long StartInterval is.
func TestHTTPStarts(t *testing.T) {
	s := newWorld(t).serve(t, withHTTPLimits(httpdoor.Limits{StartInterval: 24 * time.Hour}))
	c := s.as("").open(t)
	for range 2 * runtime.GOMAXPROCS(0) {
		c.drop(t) // returns when the app has it
	}
	for range 2 * runtime.GOMAXPROCS(0) {
		response, said := c.text(t, httpRequest{body: c.body("tools/call", exec("no such tool", "{}")), headers: c.headers})
		assert.Equal(t, response.StatusCode, http.StatusOK, said)
	}
}

// TestHTTPEnds checks that at the server's end streams end at once, requests are answered within two
// seconds, and no goroutine remains.
func TestHTTPEnds(t *testing.T) {
	s := newWorld(t).serve(t)
	c := s.as("").open(t)
	stream := c.do(t, httpRequest{method: "GET", headers: c.headers})
	_, events := c.post(t, "tools/call", exec(blockTool, `{"text":"a"}`))
	<-s.entered
	s.stop()
	_, err := io.ReadAll(stream.Body)
	assert.Check(t, err, "the stream ended with %v", err)
	if response, err := s.request(t.Context(), httpRequest{body: ping}); err == nil {
		_ = response.Body.Close()
		if response.StatusCode != http.StatusServiceUnavailable && response.StatusCode != http.StatusBadRequest {
			t.Errorf("a request after the end: %s", response.Status)
		}
	}
	close(s.release)
	m, _, err := events.message()
	assert.NilError(t, err, "%+v", m)
	assert.Equal(t, m.result(t).Content[0].Text, "released", "%+v", m)
	err = <-s.done
	assert.Check(t, is.ErrorIs(err, context.Canceled), "Serve returned %v", err)
}

// TestHTTPEndCancelsCalls checks that calls that run two seconds later are cancelled, in sessions and
// without.
func TestHTTPEndCancelsCalls(t *testing.T) {
	s := newWorld(t).serve(t)
	for _, c := range []*caller{s.as("").open(t), s.as("").modern()} {
		body := c.body("tools/call", exec(blockTool, `{"text":"a"}`))
		go func() {
			if response, err := c.request(context.WithoutCancel(t.Context()), httpRequest{body: body, headers: c.headers}); err == nil {
				_ = response.Body.Close()
			}
		}()
		<-s.entered
	}
	_, hangUp := s.as("").open(t).drop(t) // this one runs without a request
	hangUp()
	s.stop()
	for range 3 {
		err := <-s.ended
		assert.Check(t, is.ErrorIs(err, context.Canceled), "a call ended with %v", err)
	}
	err := <-s.done
	assert.Check(t, is.ErrorIs(err, context.Canceled), "Serve returned %v", err)
}

// settledGoroutines returns the number of goroutines of the door and the SDK once it is stable, and
// their stacks.
func settledGoroutines() (int, string) {
	stacks := make([]byte, 64<<20)
	all := string(stacks[:runtime.Stack(stacks, true)])
	n := 0
	var found []string
	for stack := range strings.SplitSeq(all, "\n\n") {
		if slices.ContainsFunc([]string{
			"github.com/gybob/aai-gateway/internal/doors/mcp.", "github.com/gybob/aai-gateway/internal/doors/mcp/", "github.com/gybob/aai-gateway/internal/doors/httpdoor.", "go-sdk/internal/jsonrpc2", "net/http.(*conn)",
		}, func(of string) bool { return strings.Contains(stack, of) }) {
			n++
			found = append(found, stack)
		}
	}
	return n, strings.Join(found, "\n\n")
}

// TestHTTPLeavesNothingBehind checks that no goroutine is left after any kind of client.
func TestHTTPLeavesNothingBehind(t *testing.T) {
	before, _ := settledGoroutines()
	s := newWorld(t).serve(t, func(c *streamable.Config) { c.LegacySSE = true })
	for range 20 {
		c := s.as("").open(t)
		c.lives(t)
		c.do(t, httpRequest{method: "GET", headers: c.headers})
		_, hangUp := c.drop(t)
		hangUp()
		s.do(t, httpRequest{method: "GET", path: "/sse"})
		s.as("").modern().lives(t)
		s.text(t, httpRequest{body: "nonsense"})
	}
	s.end()
	eventually(t, "all goroutines end", func() bool { n, _ := settledGoroutines(); return n <= before })
	n, stacks := settledGoroutines()
	assert.Check(t, n <= before, "%d goroutines were left behind:\n%s", n-before, stacks)
}
