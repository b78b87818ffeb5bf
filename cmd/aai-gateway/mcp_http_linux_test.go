package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
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
	h, app := b.withApp(t)
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

// status returns the status of a request with the token: 400 if it is valid, since there is no session.
func (s *httpProgram) status(t *testing.T, token string) int {
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

// mcpHTTPToken tests the clients' token.
func mcpHTTPToken(t *testing.T, b programPath) {
	h := b.home(t, nil)
	path := filepath.Join(h.folder, ".local/share/aai-gateway/http-token")

	s := h.serveHTTP(t)
	info, err := os.Stat(path)
	assert.NilError(t, err, info)
	assert.Assert(t, info.Mode().Perm() == 0o600, "the file of the token is %v, %v", info, err)

	if len(s.token) != 43 || s.status(t, s.token) != 400 || s.status(t, s.token+"x") != 401 || s.status(t, "") != 401 {
		t.Errorf("the token is %q", s.token)
	}
	rotated, err := h.command(t.Context(), "mcp", "token", "--rotate").Output()
	next := h.serveHTTP(t)
	assert.NilError(t, err, "%q", rotated)
	assert.Equal(t, next.token, strings.TrimSpace(string(rotated)), "%q", rotated)
	assert.Equal(t, next.status(t, next.token), 400, "%q", rotated)
	assert.Equal(t, next.status(t, s.token), 401, "%q", rotated)
	given := home{binary: h.binary, folder: h.folder, env: append(h.env, "AXTERMINATOR_HTTP_TOKEN=from-the-environment")}
	next = given.serveHTTP(t)
	assert.Equal(t, next.token, "from-the-environment")
	assert.Assert(t, !strings.Contains(next.said.String(), "short enough"), "the token is %q", next.token)
	assert.Equal(t, next.status(t, next.token), 400)
	assert.Equal(t, next.status(t, strings.TrimSpace(string(rotated))), 401)
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

// mcpSocketActivation: systemd opens the socket, and starts the program for the first client,
// which it serves. Then it ends on request.
func mcpSocketActivation(t *testing.T, b programPath) {
	h := b.home(t, nil)
	activate := func(ctx context.Context, sockets []string, args ...string) *exec.Cmd {
		before := []string{}
		for _, s := range sockets {
			before = append(before, "--listen="+s)
		}
		for _, v := range h.env {
			before = append(before, "--setenv="+v)
		}
		cmd := exec.CommandContext(ctx, "systemd-socket-activate", append(append(before, string(b), "mcp", "serve", "--http"), args...)...)
		cmd.Env = h.env
		return cmd
	}
	free := func(host string) string {
		t.Helper()
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", host+":0")
		assert.NilError(t, err)
		defer l.Close() //nolint:errcheck // another process listens there next
		return l.Addr().String()
	}
	arrive := func(address string) {
		t.Helper()
		for {
			c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
			if err == nil {
				_ = c.Close()
				return
			}
			assert.NilError(t, t.Context().Err(), err)
			time.Sleep(5 * time.Millisecond)
		}
	}

	token, err := h.command(t.Context(), "mcp", "token").Output()
	assert.NilError(t, err)
	address := free("127.0.0.1")
	s := &httpProgram{url: "http://" + address + "/mcp", token: strings.TrimSpace(string(token)), ended: make(chan error, 1)}
	// A port in the arguments is ignored.
	s.cmd = activate(context.WithoutCancel(t.Context()), []string{address}, "--port", "1")
	assert.NilError(t, s.cmd.Start())
	go func() { s.ended <- s.cmd.Wait(); close(s.ended) }()
	t.Cleanup(func() { _ = s.cmd.Process.Kill(); <-s.ended })
	arrive(address)
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		tools, err := s.connect(t, version).ListTools(t.Context(), nil)
		assert.NilError(t, err, "%s %+v", version, tools)
		assert.Assert(t, len(tools.Tools) != 0, "%s: the tools are %+v, %v", version, tools, err)
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil { // the program is the same process now
		t.Fatal(err)
	}
	select {
	case err := <-s.ended:
		assert.Check(t, err, "the program ended with %v", err)
	case <-time.After(patience):
		t.Fatal("the program does not end")
	}

	// The socket decides, not the configuration: others can reach this one.
	for _, c := range []struct {
		sockets []string
		args    []string
		says    string
	}{
		{[]string{free("0.0.0.0")}, []string{"--http-auth", "none"}, "other computers can reach"},
		{[]string{free("127.0.0.1"), free("127.0.0.1")}, nil, "systemd has passed 2 sockets; expected one, of TCP"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		cmd := activate(ctx, c.sockets, c.args...)
		var said strings.Builder
		cmd.Stdout, cmd.Stderr = &said, &said
		assert.NilError(t, cmd.Start())
		arrive(c.sockets[0])
		err := cmd.Wait()
		assert.Assert(t, err != nil, "%q %v", c.sockets, err)
		assert.Assert(t, is.Contains(said.String(), c.says), "%q %v", c.sockets, err)
		cancel()
	}
}
