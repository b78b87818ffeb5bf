package main_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit"
)

// httpProgram is the program serving over HTTP.
type httpProgram struct {
	url, token string
	cmd        *exec.Cmd
	said       *bytes.Buffer // on standard error
	ended      chan error
}

// command returns a run of the program with the arguments.
func (h home) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, string(h.binary), args...)
	cmd.Env = h.env
	return cmd
}

// serveHTTP starts the program at its own address, and reads the token as a user would.
func (h home) serveHTTP(t *testing.T, args ...string) *httpProgram {
	t.Helper()
	s := &httpProgram{said: &bytes.Buffer{}, ended: make(chan error, 1)}
	s.cmd = h.command(context.WithoutCancel(t.Context()), append([]string{"mcp", "serve", "--http", "--port", "0"}, args...)...)
	errors, err := s.cmd.StderrPipe()
	assert.NilError(t, err)
	assert.NilError(t, s.cmd.Start())
	ready := make(chan string, 1)
	go func() {
		scanner := bufio.NewScanner(errors)
		for scanner.Scan() {
			s.said.WriteString(scanner.Text() + "\n")
			if _, rest, ok := strings.Cut(scanner.Text(), "Serving MCP at "); ok {
				address, _, _ := strings.Cut(rest, ";")
				ready <- address
			}
		}
		close(ready)
		s.ended <- s.cmd.Wait()
		close(s.ended)
	}()
	t.Cleanup(func() { _ = s.cmd.Process.Kill(); <-s.ended })
	var ok bool
	select {
	case s.url, ok = <-ready:
	case <-time.After(patience):
	}
	if !ok {
		t.Fatalf("the program does not serve: %s", s.said.String())
	}
	token, err := h.command(t.Context(), "mcp", "token").Output()
	assert.NilError(t, err)
	s.token = strings.TrimSpace(string(token))
	return s
}

// RoundTrip implements http.RoundTripper and adds the token.
func (s *httpProgram) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+s.token)
	return http.DefaultTransport.RoundTrip(r)
}

func (s *httpProgram) connect(t *testing.T, version string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "0"}, nil)
	transport := &mcp.StreamableClientTransport{Endpoint: s.url, HTTPClient: &http.Client{Transport: s}}
	session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	assert.NilError(t, err, s.said)
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// mcpOverHTTP lets agents of two protocol versions use an app at once, and ends the program during
// a call.
func mcpOverHTTP(t *testing.T, b programPath) {
	bus := testkit.StartBus(t)
	app := testkit.ServeOnBus(t, bus, exampleApp)
	h := b.home(t, bus)
	s := h.serveHTTP(t)
	call := func(session *mcp.ClientSession, tool string, args map[string]any) (*mcp.CallToolResult, error) {
		return session.CallTool(t.Context(), &mcp.CallToolParams{Name: "aai_exec", Arguments: map[string]any{"app": exampleApp, "tool": tool, "args": args}})
	}
	old, modern := s.connect(t, "2025-11-25"), s.connect(t, "2026-07-28")
	for _, session := range []*mcp.ClientSession{old, modern} {
		result, err := call(session, "echo", map[string]any{"v": "hé"})
		assert.NilError(t, err, "%+v", result)
		assert.Assert(t, !result.IsError, "echo gave %+v, %v", result, err)
		assert.Equal(t, result.Content[0].(*mcp.TextContent).Text, "hé", "%+v", result)
	}
	n := app.Calls("EchoString")
	assert.Check(t, is.Equal(n, 2), "%d calls of echo have reached the app", n)
	go func() { _, _ = call(old, "block", nil) }()
	app.WaitBlocked(1)
	assert.NilError(t, s.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case err := <-s.ended:
		if err != nil {
			t.Errorf("the program ended with %v: %s", err, s.said)
		}
	case <-time.After(patience):
		t.Fatal("the program does not end")
	}
	h.expectJournal(t, exampleApp+" echo ok", exampleApp+" echo ok", exampleApp+" block AUTOMATION_FAILED")
}

// mcpHTTPToken tests the clients' token.
func mcpHTTPToken(t *testing.T, b programPath) {
	h := b.home(t, nil)
	path := filepath.Join(h.folder, ".local/share/aai-gateway/http-token")
	status := func(s *httpProgram, token string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		assert.NilError(t, err)
		r.Header.Set("Authorization", "Bearer "+token)
		response, err := http.DefaultClient.Do(r)
		assert.NilError(t, err)
		defer response.Body.Close() //nolint:errcheck // only its status matters
		_, _ = io.Copy(io.Discard, response.Body)
		return response.StatusCode
	}
	s := h.serveHTTP(t)
	info, err := os.Stat(path)
	assert.NilError(t, err, info)
	assert.Assert(t, info.Mode().Perm() == 0o600, "the file of the token is %v, %v", info, err)
	// 400: valid token, no session.
	if len(s.token) != 43 || status(s, s.token) != 400 || status(s, s.token+"x") != 401 || status(s, "") != 401 {
		t.Errorf("the token is %q", s.token)
	}
	rotated, err := h.command(t.Context(), "mcp", "token", "--rotate").Output()
	next := h.serveHTTP(t)
	assert.NilError(t, err, "%q", rotated)
	assert.Equal(t, next.token, strings.TrimSpace(string(rotated)), "%q", rotated)
	assert.Equal(t, status(next, next.token), 400, "%q", rotated)
	assert.Equal(t, status(next, s.token), 401, "%q", rotated)
	given := home{binary: h.binary, folder: h.folder, env: append(h.env, "AXTERMINATOR_HTTP_TOKEN=from-the-environment")}
	next = given.serveHTTP(t)
	assert.Equal(t, next.token, "from-the-environment")
	assert.Assert(t, !strings.Contains(next.said.String(), "short enough"), "the token is %q", next.token)
	assert.Equal(t, status(next, next.token), 400)
	assert.Equal(t, status(next, strings.TrimSpace(string(rotated))), 401)
	short := home{binary: h.binary, folder: h.folder, env: append(h.env, "AAI_HTTP_TOKEN=19-letters-are-few.")}
	next = short.serveHTTP(t)
	assert.Check(t, is.Contains(next.said.String(), "short enough to be guessed"), "nothing is said of a short token: %s", next.said)
	out, err := given.command(t.Context(), "mcp", "token", "--rotate").CombinedOutput()
	assert.Assert(t, err != nil, "a token of the environment was changed: %s", out)
	assert.Assert(t, is.Contains(string(out), "AAI_HTTP_TOKEN"), out)
	assert.NilError(t, os.Chmod(path, 0o644))
	out, err = h.command(t.Context(), "mcp", "serve", "--http", "0").CombinedOutput()
	assert.Assert(t, err != nil, "a token that others may read is used: %s", out)
	assert.Assert(t, is.Contains(string(out), "others than its owner may read it"), out)
}

// mcpHTTPRefusesToStart: configurations that would be open to all, or cannot work.
func mcpHTTPRefusesToStart(t *testing.T, b programPath) {
	h := b.home(t, nil)
	for _, c := range []struct{ args, says string }{
		{"--bind 0.0.0.0 --http-auth none", "other computers can reach"},
		{"--bind :: --http-auth none", "other computers can reach"},
		{"--http-auth oauth", "--issuer"},
		{"--http-auth oauth --issuer http://auth.example.com", "expected https"},
		{"--http-auth oauth --issuer https://auth.example.com --bind 0.0.0.0", "http.url"},
		{"--bind nowhere.invalid", "http.bind"},
		{"--bind 127.0.0.1:8755", "--port 8755"},
	} {
		args := append([]string{"mcp", "serve", "--http", "--port", "0"}, strings.Fields(c.args)...)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		out, err := h.command(ctx, args...).CombinedOutput()
		cancel()
		assert.Assert(t, err != nil, "%s %v %s", c.args, err, out)
		assert.Assert(t, is.Contains(string(out), c.says), "%s %v %s", c.args, err, out)
		assert.Assert(t, is.Contains(string(out), "INVALID_PARAMS"), "%s %v %s", c.args, err, out)
	}
	open := h.serveHTTP(t, "--http-auth", "none")
	open.token = ""
	open.connect(t, "2025-11-25")
}
