package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
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
	w.allow(t, "org.example.Live", "workflows")
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

const lampPage = `<!doctype html><title>Lamps</title><script>
document.modelContext.registerTool({name: 'order_lamp', description: 'Order a lamp for the living room',
	inputSchema: {type: 'object', properties: {count: {type: 'integer'}}, required: ['count']}, execute: i => 'ordered ' + i.count});
</script>`

// The person connects a browser; an agent that was connected before finds and calls the tool of an open page.
func mcpToolOfAPage(t *testing.T, b programPath) {
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(out, lampPage)
	}))
	defer server.Close()
	w := &liveWorld{home: b.home(t, nil), t: t, ctx: t.Context(), changed: make(chan struct{}, 100)}
	w.env = append(w.env, "PERSON=yes", "AAI_INSECURE_STORAGE=1")
	page := "page:" + server.URL
	w.allow(t, page)
	cmd := exec.Command(string(b))
	cmd.Env, cmd.Stderr = w.env, t.Output()
	var err error
	w.session, err = mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "0"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	assert.NilError(t, err)
	folder := t.TempDir()
	chromium := exec.CommandContext(context.WithoutCancel(t.Context()), "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--remote-debugging-port=0", "--user-data-dir="+folder, "--enable-features=WebMCPTesting,DevToolsWebMCPSupport", server.URL)
	chromium.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	assert.NilError(t, chromium.Start())
	defer func() {
		_ = syscall.Kill(-chromium.Process.Pid, syscall.SIGKILL)
		_ = chromium.Wait()
	}()
	name := ""
	for begun := time.Now(); name == ""; {
		said := w.run("browser", "list")
		for line := range strings.Lines(said) {
			if profile, ok := strings.CutPrefix(line, "chromium, "+folder); ok && strings.HasPrefix(profile, ", ") {
				name = folder // and not another browser of this computer
			}
		}
		assert.Assert(t, name != "" || time.Since(begun) <= patience, "no browser listens: %s", said)
	}
	w.run("browser", "connect", name)
	for begun := time.Now(); ; {
		said := w.run("browser", "list")
		if strings.Contains(said, page) {
			break
		}
		assert.Assert(t, time.Since(begun) <= patience, "the page is not listed: %s", said)
	}
	said := w.call("aai_search", map[string]any{"words": "order a lamp"})
	assert.Check(t, is.Contains(said, page+" order_lamp"), "the search finds %s", said)
	said = w.call("aai_exec", map[string]any{"app": page, "tool": "order_lamp", "args": map[string]any{"count": 2}})
	assert.Check(t, is.Contains(said, "ordered 2"), "the page says %s", said)
	said = w.call("aai_exec", map[string]any{"app": page, "tool": "order_lamp", "args": map[string]any{"count": "two"}})
	assert.Check(t, is.Contains(said, "INVALID_PARAMS: count"), "a wrong argument: %s", said)
	list, err := w.session.ListTools(t.Context(), nil)
	assert.NilError(t, err)
	for _, tool := range list.Tools {
		assert.Check(t, !strings.Contains(tool.Name, "page"), "the list of tools has %s", tool.Name)
	}
}
