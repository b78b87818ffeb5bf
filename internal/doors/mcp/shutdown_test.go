package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/httpdoor"
	door "github.com/gybob/aai-gateway/internal/doors/mcp"
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

const (
	manySessions   = 1000
	callsOfSession = 20
	// opening limits the sessions that open at once: before its stream holds it, a session may expire
	// while the machine is busy.
	opening = 8
	// The limits for the memory of a thousand sessions, and for the rest after them, in bytes. Both
	// include the clients.
	mostTaken = 512 << 20
	mostLeft  = 16 << 20
)

// TestHTTPUnderLoad runs a thousand sessions at once, each with its stream and twenty calls: no error,
// no lost answer, limited memory that is returned when they expire, no goroutine left. AAI_SOAK=10m
// repeats it for so long.
func TestHTTPUnderLoad(t *testing.T) {
	goroutines, _ := settledGoroutines()
	s := newWorld(t, forLoad).serve(t, withLimits(streamable.Limits{SessionIdle: 10 * time.Second}))
	s.round(t, 10) // allocate everything that is made once
	s.gone(t)
	before := memory()
	start, idle := resident(), runtime.NumGoroutine()
	soak, _ := time.ParseDuration(os.Getenv("AAI_SOAK"))
	end := time.Now().Add(soak)
	for n := 1; ; n++ {
		begun := time.Now()
		s.round(t, manySessions)
		took, most := time.Since(begun), resident()
		busy, quiet := runtime.NumGoroutine(), 0
		s.gone(t)
		eventually(t, "the system gets memory back", func() bool { return resident() <= start+(most-start)/2 })
		eventually(t, "the goroutines of the sessions end", func() bool { quiet = runtime.NumGoroutine(); return quiet <= idle })
		left := resident()
		after := memory()
		t.Logf("round %d: %d calls in %v (%.0f a second); resident before %d, full %d, after %d MB; heap and stacks before %d, after %d MB; goroutines before %d, full %d, after %d",
			n, manySessions*callsOfSession, took.Round(time.Millisecond), manySessions*callsOfSession/took.Seconds(),
			start>>20, most>>20, left>>20, before>>20, after>>20, idle, busy, quiet)
		assert.Check(t, most-start <= mostTaken, "memory: resident %d bytes before, %d full, %d after; heap and stacks %d before, %d after", start, most, left, before, after)
		assert.Check(t, after-before <= mostLeft, "memory: resident %d bytes before, %d full, %d after; heap and stacks %d before, %d after", start, most, left, before, after)
		if t.Failed() || time.Now().After(end) {
			break
		}
	}
	s.end()
	eventually(t, "all goroutines end", func() bool { n, _ := settledGoroutines(); return n <= goroutines })
}

// forLoad makes a world that stores no calls and returns the arguments.
func forLoad(w *world) {
	echo := func(_ context.Context, call *aai.Call) (*aai.Result, error) {
		text, _ := call.Args["text"].(string)
		return &aai.Result{Text: text}, nil
	}
	w.catalog.apps = append(w.catalog.apps, &aai.App{ID: "org.example.Echo", Name: "Echo", Digest: "d1", Tools: []*aai.Tool{tool(sayTool, aai.Reads, echo)}})
	w.options = func(c *door.Config) { c.Gateway.Journal = discardingJournal{} }
}

// A discardingJournal stores nothing.
type discardingJournal struct{}

func (discardingJournal) Record(context.Context, *aai.Entry) error { return nil }

// round opens the sessions and, when all are open, makes their calls, all at once.
func (s *web) round(t *testing.T, sessions int) {
	t.Helper()
	var group, opened sync.WaitGroup
	var answered atomic.Int64
	turns := make(chan struct{}, opening)
	opened.Add(sessions)
	for i := range sessions {
		group.Go(func() {
			turns <- struct{}{}
			isOpen := sync.OnceFunc(func() { <-turns; opened.Done() })
			defer isOpen()
			n, err := s.converse(t.Context(), strconv.Itoa(i), func() { isOpen(); opened.Wait() })
			answered.Add(int64(n))
			assert.Check(t, err, "session %d, after %d answers: %v", i, n, err)
		})
	}
	group.Wait()
	n := answered.Load()
	assert.Check(t, is.Equal(n, int64(sessions)*callsOfSession), "%d calls were answered", n)
}

// converse is one session: it opens its stream, waits for the others, makes its calls and disconnects
// without closing the session.
func (s *web) converse(ctx context.Context, name string, others func()) (answered int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := s.as("")
	response, err := c.request(ctx, httpRequest{body: initialize, headers: c.headers})
	if err != nil {
		return 0, err
	}
	c.headers["Mcp-Session-Id"] = response.Header.Get("Mcp-Session-Id")
	if err := finish(response.Body, response.StatusCode, http.StatusOK); err != nil {
		return 0, err
	}
	stream, err := c.request(ctx, httpRequest{method: "GET", headers: c.headers})
	if err != nil {
		return 0, err
	}
	defer stream.Body.Close() //nolint:errcheck // nothing was written
	if stream.StatusCode != http.StatusOK {
		return 0, finish(stream.Body, stream.StatusCode, http.StatusOK)
	}
	others()
	for n := range callsOfSession {
		said := name + " says " + strconv.Itoa(n)
		params := fmt.Sprintf(`{"name":"aai_exec","arguments":{"app":"org.example.Echo","tool":"say","args":{"text":%q}}}`, said)
		response, err := c.request(ctx, httpRequest{body: c.body("tools/call", params), headers: c.headers})
		if err != nil {
			return n, err
		}
		if response.StatusCode != http.StatusOK {
			return n, finish(response.Body, response.StatusCode, http.StatusOK)
		}
		m, _, err := newSSEReader(response.Body).message()
		if err != nil {
			return n, err
		}
		var r toolResult
		if err := json.Unmarshal(m.Result, &r); err != nil || len(r.Content) != 1 || r.Content[0].Text != said || string(m.ID) != strconv.Itoa(c.next) {
			return n, fmt.Errorf("call %d was answered by %s: %s", c.next, m.ID, m.Result)
		}
		if err := finish(response.Body, response.StatusCode, http.StatusOK); err != nil {
			return n, err
		}
	}
	return callsOfSession, nil
}

// finish reads the rest of an answer, so that its connection can be used again.
func finish(body io.ReadCloser, status, want int) error {
	defer body.Close() //nolint:errcheck // nothing was written
	b, err := io.ReadAll(body)
	if err == nil && status != want {
		return fmt.Errorf("status %d: %s", status, b)
	}
	return err
}

// gone waits until every session has expired.
func (s *web) gone(t *testing.T) {
	t.Helper()
	eventually(t, "the sessions expire", func() bool { return s.server.SessionCount() == 0 })
	s.client.CloseIdleConnections()
}

// memory returns the bytes in the heap and on stacks.
func memory() int64 {
	var m runtime.MemStats
	for range 3 { // the next collection frees the results of finalizers
		debug.FreeOSMemory()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// resident returns the process's memory according to the system, or 0 if it is unknown.
func resident() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(b))
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}
