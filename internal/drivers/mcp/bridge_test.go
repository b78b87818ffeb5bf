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
	is "gotest.tools/v3/assert/cmp"

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

// memorySecrets keeps secrets in memory.
type memorySecrets struct {
	mu   sync.Mutex
	kept map[string][]byte
}

func (s *memorySecrets) Get(_ context.Context, id string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept[id], nil
}

func (s *memorySecrets) Update(_ context.Context, id string, edit func([]byte) ([]byte, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh, err := edit(s.kept[id])
	if err != nil {
		return err
	}
	if s.kept[id] = fresh; fresh == nil {
		delete(s.kept, id)
	}
	return nil
}

func (s *memorySecrets) Names(_ context.Context, prefix string) (names []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.kept {
		if strings.HasPrefix(id, prefix) {
			names = append(names, id)
		}
	}
	return names, nil
}

// own runs a builtin tool without the gates, which this package does not test.
func (w *world) own(t *testing.T, name string, args map[string]any) (*aai.Result, *aai.Error) {
	t.Helper()
	for _, tool := range w.Tools(func() aai.Catalog { return w.Catalog }) {
		if tool.Name == name {
			checked, err := tool.Params.Check(args)
			if err != nil {
				return nil, aai.AsError(err)
			}
			result, err := tool.Run(t.Context(), &aai.Call{Args: checked.(map[string]any)})
			return result, aai.AsError(err)
		}
	}
	t.Fatal("no tool", name)
	return nil, nil
}

func withMemorySecrets(c *mcp.Config) { c.Secrets = &memorySecrets{kept: make(map[string][]byte)} }

// A server gets only the variables in its descriptor; they appear neither in its texts nor in the
// log.
func TestValuesByName(t *testing.T) {
	w := newWorld(t, withMemorySecrets)
	t.Setenv("TEST_OTHER", "not for it")
	t.Setenv("TEST_GIVEN", "given-in-the-environment")
	app := w.hostile(t, "env", "--key=${SECRET}", "$SECRET")
	r := w.local.apps[0].Server.MCP
	r.Env = []string{"SECRET", "TEST_GIVEN"}
	e := w.fails(t, aai.AuthRequired, app, "mcp_start", nil)
	assert.Assert(t, is.Contains(e.Message, "needs a value for SECRET"), "%+v", e)
	assert.Equal(t, e.Hint, "The person can set it: aai-gateway mcp env "+app+" SECRET.", "%+v", e)
	if _, e := w.own(t, mcp.EnvTool, map[string]any{"app": app, "values": map[string]any{"OTHER": "x"}}); e == nil || !strings.Contains(e.Message, "values.OTHER") {
		t.Errorf("%+v", e)
	}
	list, _ := w.own(t, mcp.ServersTool, nil)
	assert.Check(t, is.Contains(fmt.Sprintf("%+v", list.Data), "Needs:[SECRET]"), "%+v", list.Data)
	if _, e := w.own(t, mcp.EnvTool, map[string]any{"app": app, "values": map[string]any{"SECRET": "hush-hush-12345"}}); e != nil {
		t.Fatal(e)
	}
	w.start(t, app)
	result, e := w.call(t, app, "do", nil)
	assert.Assert(t, e == nil, e)
	eventually(t, "its words are in the log", func() bool { return strings.Contains(w.log.String(), "got") })
	if strings.Contains(result.Text, "hush-hush") || strings.Contains(result.Text, "given-in") || strings.Contains(result.Text, "TEST_OTHER") || strings.Contains(w.log.String(), "hush-hush") {
		t.Errorf("%s\n%s", result.Text, w.log)
	}
	if strings.Count(result.Text, "[secret]") < 3 || !strings.HasSuffix(result.Text, "$SECRET") {
		t.Errorf("%s\n%s", result.Text, w.log)
	}
	_, e = w.call(t, app, "do", map[string]any{"fail": true})
	assert.Assert(t, e != nil, "%+v", e)
	assert.Assert(t, !strings.Contains(e.Message, "hush-hush"), "%+v", e)
	assert.Assert(t, is.Contains(e.Message, "[secret]"), "%+v", e)
	_, e = w.own(t, mcp.EnvTool, map[string]any{"app": app, "values": map[string]any{"SECRET": ""}})
	assert.Assert(t, e == nil, e)
	if _, e := w.call(t, app, "do", nil); e == nil || e.Code != aai.AuthRequired { // the server was restarted
		t.Errorf("%+v", e)
	}
}

// A server's claims about a tool count after the user trusts them, for the current definition.
func TestBelievedClaims(t *testing.T) {
	var kept mcp.Secrets
	w := newWorld(t, withMemorySecrets, func(c *mcp.Config) { kept = c.Secrets })
	app := w.hostile(t, "words")
	_, e := w.own(t, mcp.TrustTool, map[string]any{"app": app})
	assert.Assert(t, e != nil, e)
	assert.Equal(t, e.Code, aai.AppNotRunning, e)
	w.start(t, app)
	before := w.tool(t, app, "do")
	_, e = w.own(t, mcp.TrustTool, map[string]any{"app": app, "tools": []any{"undo"}})
	assert.Assert(t, e != nil, e)
	assert.Equal(t, e.Code, aai.InvalidParams, e)
	_, e = w.own(t, mcp.TrustTool, map[string]any{"app": app})
	assert.Assert(t, e == nil, e)
	after := w.tool(t, app, "do")
	assert.Check(t, is.Equal(before.Effect, aai.Destroys))
	assert.Check(t, is.Equal(after.Effect, aai.Reads))
	assert.Check(t, after.Implementation.Digest() != before.Implementation.Digest(), "%v, then %v", before.Effect, after.Effect)
	other := newWorld(t, func(c *mcp.Config) { c.Folder, c.Secrets = w.folder+"/mcp", kept })
	other.hostile(t, "words")
	assert.Check(t, is.Equal(other.tool(t, app, "do").Effect, aai.Reads), "another gateway of the person does not believe it")
	forged := newWorld(t, withMemorySecrets, func(c *mcp.Config) { c.Folder = w.folder + "/mcp" }) // the file claims trust that was never granted
	forged.hostile(t, "words")
	assert.Check(t, is.Equal(forged.tool(t, app, "do").Effect, aai.Destroys), "a file is believed")
	_, e = w.own(t, mcp.TrustTool, map[string]any{"app": app, "undo": true})
	assert.Assert(t, e == nil, e)
	assert.Equal(t, w.tool(t, app, "do").Effect, aai.Destroys, e)
}

// A variable of the environment serves if none is stored, and relative folders of PATH are
// ignored.
func TestPrograms(t *testing.T) {
	folder := t.TempDir()
	assert.NilError(t, os.WriteFile(folder+"/tool", []byte("#!/bin/sh\nexit 7\n"), 0o700))
	t.Chdir(folder)
	w := newWorld(t, func(c *mcp.Config) {
		c.Getenv = func(name string) string { return map[string]string{"PATH": ".:relative"}[name] }
	})
	app := w.add(t, &aai.MCPRecipe{Command: "tool"})
	_, e := w.call(t, app, "mcp_start", nil)
	assert.Assert(t, e != nil, "%+v", e)
	assert.Assert(t, is.Contains(e.Message, `there is no program "tool"`), "%+v", e)
}
