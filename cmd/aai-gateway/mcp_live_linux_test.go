package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

const (
	liveApp = "org.example.Live"

	// The tools of the server before and after it changes.
	liveTools  = `[{"name": "do", "description": "Does it", "inputSchema": {"type": "object", "properties": {"x": {"type": "string"}}}}]`
	otherTools = `[{"name": "do", "description": "Does it at a place", "inputSchema": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}}]`

	liveWorkflow = `{"description": "Does it twice.", "params": {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]},
		"steps": [{"app": "org.example.Live", "tool": "do", "args": {"x": "{{params.x}}"}}]}`
)

// liveWorld is a connected client of the SDK, and a server of another SDK behind the program.
type liveWorld struct {
	home
	t       *testing.T
	ctx     context.Context // of the test, for five minutes
	session *mcp.ClientSession
	changed chan struct{}
}

// live returns a client that is connected before the server starts.
func (b programPath) live(t *testing.T, version string) *liveWorld {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*patience)
	t.Cleanup(cancel)
	w := &liveWorld{home: b.home(t, nil), t: t, ctx: ctx, changed: make(chan struct{}, 100)}
	w.env = append(w.env, "PERSON=yes", "AAI_INSECURE_STORAGE=1")
	node, modules := nodeIn(t, "sdks", "scripts/need-sdks")
	script, err := filepath.Abs(filepath.Join("testdata", "sdks", "live.mjs"))
	assert.NilError(t, err)
	command, err := json.Marshal([]string{script, filepath.Dir(modules), w.path("tools.json"), w.path("pid")})
	assert.NilError(t, err)
	w.write(t, "tools.json", liveTools)
	w.write(t, ".aai/"+liveApp+"/aai.json", fmt.Sprintf(`{"schema_version": "1.0", "platform": "linux", "app": {"id": %q, "name": "Live", "description": "Changes."},
		"execution": {"type": "mcp", "command": %q, "args": %s}}`, liveApp, node, command))
	w.write(t, ".aai/workflows/twice.json", liveWorkflow)
	w.write(t, ".aai/config.json", `{"consent": {"preapproved": [{"app": "org.example.Live", "tools": ["*"], "caller": "*", "expires": "2999-01-01T00:00:00Z"},
		{"app": "workflows", "tools": ["*"], "caller": "*", "expires": "2999-01-01T00:00:00Z"}]}}`)
	cmd := exec.Command(string(b))
	cmd.Env, cmd.Stderr = w.env, t.Output()
	client := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "0"}, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { w.changed <- struct{}{} },
	})
	w.session, err = client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	assert.NilError(t, err)
	return w
}

func (w *liveWorld) path(name string) string { return filepath.Join(w.folder, name) }

// call calls a listed tool and returns the text of its result.
func (w *liveWorld) call(tool string, args map[string]any) string {
	w.t.Helper()
	r, err := w.session.CallTool(w.ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return err.Error()
	}
	text, ok := r.Content[0].(*mcp.TextContent)
	if !ok {
		w.t.Fatalf("%+v", r.Content[0])
	}
	return text.Text
}

// run runs a command of the person, which must succeed.
func (w *liveWorld) run(args ...string) string {
	w.t.Helper()
	out, err := w.command(w.ctx, args...).Output()
	assert.NilError(w.t, err, "%v %s", args, out)
	return string(out)
}

// listed waits until the client has heard of a list in which the tool is, or is not with an empty description, and
// returns its entry.
func (w *liveWorld) listed(name, description string) *mcp.Tool {
	w.t.Helper()
	for late := time.After(patience); ; {
		list, err := w.session.ListTools(w.ctx, nil)
		assert.NilError(w.t, err)
		var found *mcp.Tool
		for _, tool := range list.Tools {
			if tool.Name == name {
				found = tool
			}
		}
		if found == nil && description == "" || found != nil && description != "" && strings.Contains(found.Description, description) {
			return found
		}
		select {
		case <-w.changed:
		case <-late:
			w.t.Fatalf("%s is not listed with %q: %+v", name, description, found)
		}
	}
}

// A client that stays connected hears of pinned tools, of their changes and of the server's restart, and calls what
// the list has.
func mcpServerThatChanges(t *testing.T, b programPath) {
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			w := b.live(t, version)
			w.call("aai_exec", map[string]any{"app": liveApp, "tool": "mcp_start", "args": map[string]any{}})
			assert.Check(t, is.Contains(w.run("mcp", "pin", liveApp, "do"), "Agents see do of org.example.Live as do. That costs about "))
			w.listed("do", `Of org.example.Live, in its words: "Does it"`)
			said := w.call("do", map[string]any{"x": "1"})
			assert.Check(t, strings.HasSuffix(said, `do {"x":"1"}`), said)
			w.write(t, "tools.json", otherTools)
			w.listed("do", "Does it at a place")
			said = w.call("do", map[string]any{"x": "1"})
			assert.Assert(t, is.Contains(said, "INVALID_PARAMS: place: missing"))
			assert.Assert(t, is.Contains(said, "the tools of org.example.Live have changed since you last saw them. Changed: do."))
			w.killServer()
			w.write(t, "tools.json", liveTools)
			until := time.Now().Add(patience)
			for said := ""; !strings.HasSuffix(said, `do {"x":"2"}`) && time.Now().Before(until); { // the first call finds the changed tool
				said = w.call("aai_exec", map[string]any{"app": liveApp, "tool": "do", "args": map[string]any{"x": "2", "place": "p"}})
				// A call that meets the end of the server fails; the next one starts it.
				if !strings.Contains(said, "CONSENT_REQUIRED") && !strings.Contains(said, "APP_NOT_RUNNING") && !strings.Contains(said, "AUTOMATION_FAILED") {
					break
				}
			}
			w.listed("do", `"Does it"`)
			w.run("mcp", "pin", "workflows", "twice")
			schema, _ := json.Marshal(w.listed("twice", "Does it twice.").InputSchema)
			assert.Check(t, is.Equal(string(schema), `{"properties":{"x":{"type":"string"}},"required":["x"],"type":"object"}`), schema)
			said = w.call("twice", map[string]any{"x": "3"})
			assert.Assert(t, !strings.Contains(said, "ERROR"), said)
			assert.Assert(t, is.Contains(said, "1"))
			w.run("mcp", "unpin", liveApp, "do")
			w.listed("do", "")
			assert.Check(t, is.Contains(w.call("do", nil), `unknown tool "do"`))
			err := w.session.Close()
			assert.Check(t, err, "the program ended with %v", err)
		})
	}
}

// killServer ends the server's process as a crash does.
func (w *liveWorld) killServer() {
	w.t.Helper()
	text, err := os.ReadFile(w.path("pid"))
	assert.NilError(w.t, err)
	pid, err := strconv.Atoi(string(text))
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGKILL)
	}
	assert.NilError(w.t, err)
}
