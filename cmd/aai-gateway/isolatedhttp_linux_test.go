package main

import (
	"net"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// A conversationWorld is a gateway over HTTP that gives each conversation an isolated session.
type conversationWorld struct {
	isolatedWorld
	cmd     *exec.Cmd
	out     outputFile
	address string
}

func serveConversations(t *testing.T) conversationWorld {
	t.Helper()
	w := conversationWorld{isolatedWorld: newIsolatedWorld(t)}
	w.allow(t, "desktop")
	free, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	_, port, _ := net.SplitHostPort(free.Addr().String())
	assert.NilError(t, free.Close())
	w.address = "http://127.0.0.1:" + port + "/mcp"
	w.cmd, w.out = w.begin(t, "mcp", "serve", "--profile", "desktop", "--session", "isolated", "--http", "--port", port)
	t.Cleanup(func() { _ = w.cmd.Process.Signal(syscall.SIGTERM); _ = w.cmd.Wait() })
	w.await(t, "the gateway listens", func() bool { return strings.Contains(w.out.String(), "Serving MCP at") })
	return w
}

func (w conversationWorld) await(t *testing.T, goal string, is func() bool) {
	t.Helper()
	for begun := time.Now(); !is(); time.Sleep(5 * time.Millisecond) {
		assert.Assert(t, time.Since(begun) < patience, "%s: %s", goal, w.out)
	}
}

// token returns the token of a new client.
func (w conversationWorld) token(t *testing.T, name string) string {
	t.Helper()
	cmd, out := w.begin(t, "mcp", "token", "add", name)
	assert.NilError(t, cmd.Wait(), out)
	return regexp.MustCompile(`[A-Za-z0-9_-]{40,}`).FindString(out.String())
}

type bearerTransport string

func (b bearerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// connect opens a conversation, and returns it with the display and the folder of its session.
func (w conversationWorld) connect(t *testing.T, token, version string) (client *mcp.ClientSession, display, folder string) {
	t.Helper()
	transport := &mcp.StreamableClientTransport{Endpoint: w.address, HTTPClient: &http.Client{Transport: bearerTransport(token)}}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "0"}, nil).Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	assert.NilError(t, err, w.out)
	t.Cleanup(func() { _ = client.Close() })
	_, err = client.CallTool(t.Context(), &mcp.CallToolParams{Name: "ax_list_apps", Arguments: map[string]any{}})
	assert.NilError(t, err, w.out)
	all := regexp.MustCompile(`display (:\d+), home (/tmp/aai-sessions-\d+/\d+)/home`).FindAllStringSubmatch(w.out.String(), -1)
	assert.Assert(t, len(all) > 0, w.out)
	last := all[len(all)-1]
	return client, last[1], last[2]
}

// TestEachConversationHasADesktop checks that conversations over HTTP have different desktops, that another caller cannot
// use them, and that each desktop ends with its conversation or with the gateway.
func TestEachConversationHasADesktop(t *testing.T) {
	w := serveConversations(t)
	ann, ben := w.token(t, "ann"), w.token(t, "ben")
	one, display1, folder1 := w.connect(t, ann, "2025-11-25")
	two, display2, folder2 := w.connect(t, ann, "2025-11-25")
	_, display3, folder3 := w.connect(t, ben, "2026-07-28")
	_, _, again := w.connect(t, ben, "2026-07-28")
	assert.Check(t, folder1 != folder2)
	assert.Check(t, display1 != display2)
	assert.Check(t, is.Equal(again, folder3), "the requests of a caller without sessions are one conversation")

	status := func(token, session string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, w.address, nil)
		assert.NilError(t, err)
		r.Header.Set("Mcp-Session-Id", session)
		r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		answer, err := bearerTransport(token).RoundTrip(r)
		assert.NilError(t, err)
		assert.NilError(t, answer.Body.Close())
		return answer.StatusCode
	}
	assert.Check(t, is.Equal(status(ben, one.ID()), http.StatusNotFound), "another caller ends the session")
	assert.Check(t, is.Equal(status("no-token-of-this-gateway", one.ID()), http.StatusUnauthorized))
	assert.Check(t, len(processesWith(sessionMark(folder1))) > 0)
	assert.NilError(t, one.Close())
	t.Logf("gone %s after DELETE", nothingLeft(t, folder1, display1))
	assert.Check(t, is.Equal(status(ann, one.ID()), http.StatusNotFound))

	assert.NilError(t, syscall.Kill(sessionProcess(t, folder2, "aai-gateway "+inSessionArgument), syscall.SIGKILL))
	nothingLeft(t, folder2, display2)
	_, err := two.CallTool(t.Context(), &mcp.CallToolParams{Name: "ax_list_apps", Arguments: map[string]any{}})
	assert.Check(t, err != nil, "a killed gateway answers")
	assert.Check(t, is.Equal(status(ann, two.ID()), http.StatusNotFound))

	assert.NilError(t, w.cmd.Process.Signal(syscall.SIGTERM))
	_ = w.cmd.Wait()
	nothingLeft(t, folder3, display3)
}

// TestKilledServerLeavesNoDesktop kills the gateway with two conversations.
func TestKilledServerLeavesNoDesktop(t *testing.T) {
	w := serveConversations(t)
	token := w.token(t, "ann")
	_, display1, folder1 := w.connect(t, token, "2025-11-25")
	_, display2, folder2 := w.connect(t, token, "2025-11-25")
	assert.NilError(t, w.cmd.Process.Kill())
	_ = w.cmd.Wait()
	nothingLeft(t, folder1, display1)
	nothingLeft(t, folder2, display2)
}

// TestBadMessagesOpenNoDesktop checks that only a client that opens a conversation gets a desktop.
func TestBadMessagesOpenNoDesktop(t *testing.T) {
	w := serveConversations(t)
	token := w.token(t, "ann")
	for body, want := range map[string]int{
		"":  http.StatusBadRequest,
		"{": http.StatusBadRequest,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`: http.StatusBadRequest,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.address, strings.NewReader(body))
		assert.NilError(t, err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		answer, err := bearerTransport(token).RoundTrip(r)
		assert.NilError(t, err)
		assert.NilError(t, answer.Body.Close())
		assert.Check(t, is.Equal(answer.StatusCode, want), body)
	}
	assert.Check(t, !strings.Contains(w.out.String(), "isolated session on"), w.out)
}
