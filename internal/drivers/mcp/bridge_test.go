package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/drivers/mcp"
)

// bridge offers a hostile server of a kind at an address: the response stream to a request is the
// process's output, unchanged, and ends with the process.
type bridge struct {
	t    *testing.T
	kind string

	mu       sync.Mutex
	sessions map[string]*hostileSession
}

// hostileSession is a client's process.
type hostileSession struct {
	turn sync.Mutex // held while a request is answered
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
}

// forHostileWorlds runs the test with a server of the kind as a process and over HTTP.
func forHostileWorlds(t *testing.T, kind string, test func(t *testing.T, w *world, app string)) {
	t.Run(kind, func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		test(t, w, w.hostile(t, kind))
	})
	if strings.HasPrefix(kind, "floods") {
		return // without an end a bridge exceeds a call's time: TestFloodOverHTTP
	}
	t.Run(kind+" over HTTP", func(t *testing.T) {
		t.Parallel()
		b := &bridge{t: t, kind: kind, sessions: make(map[string]*hostileSession)}
		far := httptest.NewServer(b)
		way := &http.Transport{}
		t.Cleanup(func() { b.close(); far.CloseClientConnections(); far.Close(); way.CloseIdleConnections() })
		w := newWorld(t, func(c *mcp.Config) { c.Client = &http.Client{Transport: way} })
		test(t, w, w.add(t, &aai.MCPRecipe{URL: far.URL}))
	})
}

// ServeHTTP implements http.Handler.
func (b *bridge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var m message
	_ = json.Unmarshal(body, &m)
	id := r.Header.Get("Mcp-Session-Id")
	if r.Method == http.MethodPost && m.Method == "initialize" {
		id = b.begin()
		w.Header().Set("Mcp-Session-Id", id)
	}
	b.mu.Lock()
	s := b.sessions[id]
	b.mu.Unlock()
	switch {
	case m.Method == "server/discover":
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(dict{"jsonrpc": "2.0", "id": m.ID, "error": dict{"code": -32601, "message": "no such method"}})
	case r.Method != http.MethodPost:
		http.Error(w, "no", http.StatusMethodNotAllowed)
	case s == nil:
		http.Error(w, "no such session", http.StatusNotFound)
	case m.ID == nil || m.Method == "":
		_, _ = s.in.Write(append(body, '\n'))
		w.WriteHeader(http.StatusAccepted)
	default:
		s.turn.Lock()
		defer s.turn.Unlock()
		here := context.AfterFunc(r.Context(), func() { b.end(id) }) // the client is gone
		defer here()
		_, _ = s.in.Write(append(body, '\n'))
		w.Header().Set("Content-Type", "text/event-stream")
		if !s.answer(w, m.ID, here) {
			b.end(id)
			panic(http.ErrAbortHandler)
		}
	}
}

// answer forwards the process's output up to the response, and reports whether there was one.
// waited is called just before, because the client may leave with the response.
func (s *hostileSession) answer(w http.ResponseWriter, id any, waited func() bool) bool {
	for begins := true; ; {
		part, err := s.out.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull { //nolint:errorlint // as it is returned
			return false
		}
		var m message
		answers := begins && err == nil && json.Unmarshal(part, &m) == nil && m.Method == "" && fmt.Sprint(m.ID) == fmt.Sprint(id)
		if begins {
			part = append([]byte("data: "), part...)
		}
		if begins = err == nil; begins {
			part = append(part, '\n')
		}
		if answers {
			waited()
		}
		if _, err := w.Write(part); err != nil {
			return false
		}
		if answers || s.out.Buffered() == 0 {
			_ = http.NewResponseController(w).Flush()
		}
		if answers {
			return true
		}
	}
}

// begin starts a process.
func (b *bridge) begin() string {
	self, _ := os.Executable()
	s := &hostileSession{cmd: exec.Command(self, asServer, b.kind)}
	s.in, _ = s.cmd.StdinPipe()
	out, _ := s.cmd.StdoutPipe()
	s.out = bufio.NewReaderSize(out, 64<<10)
	assert.Check(b.t, s.cmd.Start())
	b.mu.Lock()
	defer b.mu.Unlock()
	id := fmt.Sprint("s", len(b.sessions))
	b.sessions[id] = s
	return id
}

// end ends a session. Its number is not reused.
func (b *bridge) end(id string) {
	b.mu.Lock()
	s := b.sessions[id]
	b.sessions[id] = nil
	b.mu.Unlock()
	if s != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	}
}

func (b *bridge) close() {
	b.mu.Lock()
	var ids []string
	for id := range b.sessions {
		ids = append(ids, id)
	}
	b.mu.Unlock()
	for _, id := range ids {
		b.end(id)
	}
}

// overHTTP reports whether the test's server is at an address.
func overHTTP(t *testing.T) bool { return strings.HasSuffix(t.Name(), "_over_HTTP") }
