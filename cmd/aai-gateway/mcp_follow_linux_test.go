package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

const followConfig = `{"consent": {"preapproved": [
  {"app": "desktop/changes", "tools": ["*"], "caller": "*", "expires": "2999-01-01T00:00:00Z"},
  {"app": "desktop", "tools": ["*"], "caller": "*", "expires": "2999-01-01T00:00:00Z"}]}}`

// followed is a program on a private desktop whose events clients follow.
type followed struct {
	home
	program *linuxtest.Changer
	uri     string
}

// readContents is the result of resources/read.
type readContents struct{ Contents []struct{ Text string } }

// mcpFollow: clients of both protocol versions and of several SDKs subscribe to the events of a program, over both
// transports, are notified of a change, and read it.
func mcpFollow(t *testing.T, b programPath) {
	desk := linuxtest.StartAccessible(t)
	f := &followed{home: b.home(t, nil), program: desk.Changer(t)}
	f.env = append(slices.Clone(desk.Env), "HOME="+f.folder)
	f.write(t, ".aai/config.json", followConfig)
	f.uri = "axterminator://app/" + strconv.Itoa(f.program.PID) + "/events"
	http := f.serveHTTP(t)
	env := map[string]string{}
	for _, variable := range f.env {
		name, value, _ := strings.Cut(variable, "=")
		env[name] = value
	}
	for _, c := range []struct{ sdk, mode, version string }{{"v1", "", "2025-11-25"}, {"v2", "legacy", "2025-11-25"}, {"v2", "auto", "2026-07-28"}} {
		for over, target := range map[string]map[string]any{
			"stdio": {"mode": c.mode, "command": string(b), "env": env}, "HTTP": {"mode": c.mode, "url": http.url, "token": http.token},
		} {
			t.Run(c.sdk+" "+c.mode+" over "+over, func(t *testing.T) {
				p := newPuppet(t, c.sdk, target)
				var opened struct{ Version string }
				p.read(p.receive().Result, &opened)
				assert.Check(t, is.Equal(opened.Version, c.version))
				f.follow(t, p)
			})
		}
	}
	t.Run("resumed over HTTP", func(t *testing.T) { f.resume(t, http) })
}

// follow subscribes, lets the program change, and reads the event.
func (f *followed) follow(t *testing.T, p *puppet) {
	t.Helper()
	var nothing json.RawMessage
	p.do(&nothing, "subscribeResource", map[string]any{"uri": f.uri})
	var before, after readContents
	p.do(&before, "readResource", map[string]any{"uri": f.uri})
	p.news = nil
	f.program.Change(t, 2, 0) // on and off
	p.hears(1)
	assert.Check(t, is.Equal(p.news[0], f.uri))
	p.do(&after, "readResource", map[string]any{"uri": fmt.Sprintf("%s/%d", f.uri, lastNumber(t, before))})
	assert.Assert(t, is.Len(after.Contents, 1), "%+v", after)
	assert.Assert(t, is.Contains(after.Contents[0].Text, `"element":"checkbox \"Change\"","title":"Changes"`), "%+v", after)
	p.do(&nothing, "unsubscribeResource", map[string]any{"uri": f.uri})
}

// lastNumber returns the number of the last event.
func lastNumber(t *testing.T, read readContents) int {
	t.Helper()
	var events struct{ Last int }
	assert.NilError(t, json.Unmarshal([]byte(read.Contents[0].Text), &events))
	return events.Last
}

// resume cuts the stream of notifications, lets the program change, and resumes the stream.
func (f *followed) resume(t *testing.T, server *httpProgram) {
	session := ""
	do := func(method, body string, header ...string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, server.url, strings.NewReader(body))
		assert.NilError(t, err)
		for _, h := range append(header, "Authorization: Bearer "+server.token, "Content-Type: application/json", "Mcp-Session-Id: "+session, "MCP-Protocol-Version: 2025-11-25") {
			name, value, _ := strings.Cut(h, ": ")
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		answer, err := http.DefaultClient.Do(r)
		assert.NilError(t, err)
		t.Cleanup(func() { _ = answer.Body.Close() })
		return answer
	}
	const both, stream = "Accept: application/json, text/event-stream", "Accept: text/event-stream"
	session = do(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, both).Header.Get("Mcp-Session-Id")
	do(http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, both)
	first := do(http.MethodGet, "", stream)
	subscribed := do(http.MethodPost, fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":%q}}`, f.uri), both)
	answer, err := io.ReadAll(subscribed.Body)
	assert.NilError(t, err, answer)
	assert.Assert(t, is.Contains(string(answer), `"result"`), answer)
	f.program.Change(t, 2, 0) // on and off
	id := awaitUpdate(t, first)
	_ = first.Body.Close()
	f.program.Change(t, 2, 0) // on and off
	awaitUpdate(t, do(http.MethodGet, "", stream, "Last-Event-ID: "+id))
}

// awaitUpdate reads a stream until a resource is updated, and returns the event's id.
func awaitUpdate(t *testing.T, answer *http.Response) (id string) {
	t.Helper()
	late := time.AfterFunc(patience, func() { _ = answer.Body.Close() })
	defer late.Stop()
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			id = value
		}
		if strings.Contains(lines.Text(), "notifications/resources/updated") {
			return id
		}
	}
	t.Fatalf("the stream ended without an update: %d %v", answer.StatusCode, lines.Err())
	return ""
}
