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
	b.Cleanup(func() {
		_ = process.Process.Kill()
		_ = process.Wait()
	})
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
