package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// The first request of every MCP client.
const initialize = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}`

// session is one server process and a minimal client. It belongs to one goroutine.
type session struct {
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	id      int
	line    []byte
}

// startServer starts a program as an MCP server with only the given environment. The caller ends
// it.
func startServer(b *testing.B, env []string, program string, args ...string) *session {
	b.Helper()
	process := exec.CommandContext(b.Context(), program, args...)
	process.Env = env
	s, err := newSession(process)
	assert.NilError(b, err)
	return s
}

// newSession starts a process as an MCP server.
func newSession(process *exec.Cmd) (*session, error) {
	in, err := process.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, err
	}
	s := sessionOver(in, out)
	s.process = process
	return s, nil
}

// sessionOver returns a client of a server in any process.
func sessionOver(in io.WriteCloser, out io.Reader) *session {
	return &session{process: &exec.Cmd{Path: "the server"}, in: in, out: bufio.NewReaderSize(out, 1<<20)}
}

// open is startServer up to the list with the expected number of tools. The server ends with the
// benchmark.
func open(b *testing.B, env []string, program string, tools int, args ...string) *session {
	b.Helper()
	s := startServer(b, env, program, args...)
	b.Cleanup(func() { s.end(b) })
	s.handshake(b, tools)
	return s
}

// handshake runs a client's requests before the first call. A server that finds its tools slowly
// may list only some; handshake repeats until all are listed.
func (s *session) handshake(b *testing.B, tools int) {
	b.Helper()
	assert.NilError(b, s.initializeSession())
	for {
		switch listed := len(s.ask(b, "tools/list", `{}`).Result.Tools); {
		case listed == tools:
			return
		case listed > tools:
			b.Fatalf("expected %d tools, got %d", tools, listed)
		}
		time.Sleep(time.Millisecond)
	}
}

// initializeSession exchanges the initialization.
func (s *session) initializeSession() error {
	if _, err := s.try("initialize", initialize); err != nil {
		return err
	}
	_, err := io.WriteString(s.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	return err
}

// end closes the server's input and waits for it.
func (s *session) end(b *testing.B) {
	b.Helper()
	_ = s.in.Close()
	if err := s.process.Wait(); err != nil && b.Context().Err() == nil {
		b.Errorf("%s: %v", s.process.Path, err)
	}
}

// send writes a request and returns its id.
func (s *session) send(b *testing.B, method, params string) int {
	b.Helper()
	id, err := s.put(method, params)
	assert.NilError(b, err)
	return id
}

func (s *session) put(method, params string) (id int, err error) {
	s.id++
	s.line = fmt.Appendf(s.line[:0], `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", s.id, method, params)
	_, err = s.in.Write(s.line)
	return s.id, err
}

// answer is the part of a response that a client needs.
type answer struct {
	ID     int
	Error  json.RawMessage
	Result struct {
		IsError bool
		Tools   []struct{}
	}

	line []byte // the entire response
}

// receive reads the next response. A failed one ends the benchmark: a failure must not count as
// fast.
func (s *session) receive(b *testing.B) answer {
	b.Helper()
	a, err := s.next()
	assert.NilError(b, err)
	return a
}

func (s *session) next() (answer, error) {
	for {
		line, err := s.out.ReadBytes('\n')
		if err != nil {
			return answer{}, fmt.Errorf("%s: %w", s.process.Path, err)
		}
		if !bytes.Contains(line, []byte(`"id":`)) {
			continue // a notification
		}
		a := answer{line: line}
		if err := json.Unmarshal(line, &a); err != nil {
			return a, err
		}
		if a.Error != nil || a.Result.IsError {
			return a, fmt.Errorf("the server refused: %.2000s", line)
		}
		return a, nil
	}
}

func (s *session) ask(b *testing.B, method, params string) answer {
	b.Helper()
	a, err := s.try(method, params)
	assert.NilError(b, err)
	return a
}

// try is ask, for servers that may fail.
func (s *session) try(method, params string) (answer, error) {
	id, err := s.put(method, params)
	if err != nil {
		return answer{}, err
	}
	a, err := s.next()
	if err == nil && a.ID != id {
		err = fmt.Errorf("expected the answer to %d, got that to %d", id, a.ID)
	}
	return a, err
}

// timed returns the time of a tool call, from its request to its response.
func (s *session) timed(b *testing.B, call string) time.Duration {
	b.Helper()
	begun := time.Now()
	s.ask(b, "tools/call", call)
	return time.Since(begun)
}

// load makes n calls, with width calls in flight, and adds their times. A response to an earlier
// request is an error.
func (s *session) load(b *testing.B, call string, n, width int, took *samples) {
	b.Helper()
	sent := make(map[int]time.Time, width)
	begin := func() {
		now := time.Now()
		sent[s.send(b, "tools/call", call)] = now
	}
	for range width {
		begin()
	}
	for done := range n {
		id := s.receive(b).ID
		begun, ours := sent[id]
		assert.Assert(b, ours, "the call %d ended before its time", id)
		took.add(time.Since(begun))
		delete(sent, id)
		if done+width < n {
			begin()
		}
	}
}

// modernMeta is the metadata of a request of 2026-07-28.
const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},` +
	`"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"}}`

// modern adds the metadata of 2026-07-28 to params, a JSON object that is not empty.
func modern(params string) string { return strings.TrimSuffix(params, "}") + "," + modernMeta + "}" }

// httpSession is a server process and a minimal client, with one connection. It belongs to one
// goroutine.
type httpSession struct {
	process        *exec.Cmd
	address, token string
	session        string // empty in the version without sessions
	modern         bool
	client         *http.Client
	id             int
}

// openHTTP starts a server that prints its address, with a client of one protocol version. It ends
// with the benchmark.
func openHTTP(b *testing.B, modern bool, token string, env []string, program string, args ...string) (*httpSession, error) {
	b.Helper()
	process := exec.CommandContext(b.Context(), program, args...)
	process.Env = env
	out, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, err
	}
	killAtEnd(b, process)
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	s := &httpSession{
		process: process, address: strings.TrimSpace(address), token: token, modern: modern,
		client: &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1, DisableCompression: true}},
	}
	if modern {
		return s, nil
	}
	if _, err := s.try("initialize", initialize); err != nil {
		return nil, err
	}
	_, _, err = s.post("notifications/initialized", `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return s, err
}

// timed returns the time of a tool call, from its request to the end of its response.
func (s *httpSession) timed(b *testing.B, call string) time.Duration {
	b.Helper()
	begun := time.Now()
	_, err := s.try("tools/call", call)
	assert.NilError(b, err)
	return time.Since(begun)
}

func (s *httpSession) pid() int { return s.process.Process.Pid }

// try sends a request and reads its response, which must be a success.
func (s *httpSession) try(method, params string) (answer, error) {
	s.id++
	status, body, err := s.post(method, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, s.id, method, params))
	if err != nil {
		return answer{}, err
	}
	a := answer{line: body}
	for line := range bytes.Lines(body) { // of a stream of events, the last with data
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			a.line = data
		}
	}
	if err := json.Unmarshal(a.line, &a); err != nil || status != http.StatusOK || a.ID != s.id || a.Error != nil || a.Result.IsError {
		return a, fmt.Errorf("%s: %d: %.2000s", s.process.Path, status, body)
	}
	return a, nil
}

func (s *httpSession) post(method, body string) (status int, answer []byte, err error) {
	r, err := http.NewRequest(http.MethodPost, s.address, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if s.token != "" {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	switch {
	case s.modern:
		r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		r.Header.Set("Mcp-Method", method)
		r.Header.Set("Mcp-Name", nameIn(body))
	case s.session != "":
		r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		r.Header.Set("Mcp-Session-Id", s.session)
	}
	response, err := s.client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close() //nolint:errcheck // it was read to its end
	answer, err = io.ReadAll(response.Body)
	if id := response.Header.Get("Mcp-Session-Id"); id != "" {
		s.session = id
	}
	return response.StatusCode, answer, err
}

// nameIn returns the name of the tool that a request calls.
func nameIn(body string) string {
	_, rest, _ := strings.Cut(body, `"params":{"name":"`)
	name, _, _ := strings.Cut(rest, `"`)
	return name
}
