package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/cli"
	"github.com/gybob/aai-gateway/internal/doors/mcp"
	"github.com/gybob/aai-gateway/internal/doors/mcp/streamable"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/policy"
)

// gateAndJournal is a gate and a journal that records all calls and admits them.
type gateAndJournal struct {
	mu      sync.Mutex
	gated   []string
	entries []aai.Entry
}

func (w *gateAndJournal) Check(_ context.Context, r *aai.Request) ([]aai.Question, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gated = append(w.gated, r.App.ID+" "+r.Tool.Name)
	return nil, nil
}

func (w *gateAndJournal) Record(_ context.Context, e *aai.Entry) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.entries = append(w.entries, *e)
	return nil
}

// report returns the gated calls, and the outcomes of the journal's calls.
func (w *gateAndJournal) report() (gated []string, received int, outcomes []aai.Code) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.entries {
		if e.Caller.Door != "" {
			received++
		}
		if e.Kind == aai.Outcome {
			outcomes = append(outcomes, e.Code)
		}
	}
	return w.gated, received, outcomes
}

// newTestGateway returns a gateway with one app, the desktop and its own app, with a recording
// gate, and limits.
func newTestGateway(t *testing.T, limits map[policy.Kind]policy.Limit) (*gateway.Gateway, *gateAndJournal) {
	t.Helper()
	d := newDesk(t)
	c, err := d.read(cli.Flags{})
	cfg := mustRead(t, c, err)
	built, err := (&program{getenv: d.getenv, hostAccess: d.grounds(), err: t.Output()}).build(cfg)
	assert.NilError(t, err)
	t.Cleanup(func() { _ = built.close() })
	app := &aai.App{
		ID: "org.example.Notes", Name: "Notes", Aliases: []string{"jotter"}, Digest: "d", Descriptor: aai.Descriptor{Raw: json.RawMessage(`{}`)}, Platform: "linux",
		Tools: []*aai.Tool{{
			Name: "list", Effect: aai.Reads, Params: aai.Schema{Check: func(v any) (any, error) { return v, nil }},
			Run: func(context.Context, *aai.Call) (*aai.Result, error) { return &aai.Result{Text: "milk"}, nil },
		}},
	}
	w := &gateAndJournal{}
	g := &gateway.Gateway{
		Catalog: &withApp{Catalog: built.gateway.Catalog, app: app}, Journal: w,
		Gates: []aai.Gate{w, policy.NewLimits(limits)},
	}
	return g, w
}

// withApp adds an app to a catalog.
type withApp struct {
	aai.Catalog
	app *aai.App
}

func (c *withApp) Apps() []*aai.App { return append([]*aai.App{c.app}, c.Catalog.Apps()...) }

func (c *withApp) Find(ctx context.Context, name string) (*aai.App, error) {
	for _, known := range []string{c.app.ID, c.app.Aliases[0], "app_org_example_Notes"} {
		if name == known {
			return c.app, nil
		}
	}
	return c.Catalog.Find(ctx, name)
}

// callEntry is one way for a call to come in.
type callEntry struct {
	name string
	come func(t *testing.T, g *gateway.Gateway)
}

// callEntries returns all of them. Other MCP methods, such as lists, make no calls.
func callEntries() []callEntry {
	var all []callEntry
	const task = `,"task":{"ttl":60000}`
	for name, params := range map[string]string{
		"aai_exec":             `{"name":"aai_exec","arguments":{"app":"org.example.Notes","tool":"list"}}`,
		"aai:exec":             `{"name":"aai:exec","arguments":{"app":"org.example.Notes","tool":"list"}}`,
		"by alias":             `{"name":"aai_exec","arguments":{"app":"jotter","tool":"list"}}`,
		"by wire name":         `{"name":"aai_exec","arguments":{"app":"app_org_example_Notes","tool":"list"}}`,
		"by canonical id":      `{"name":"org.example.Notes:list","arguments":{}}`,
		"the own app":          `{"name":"aai_exec","arguments":{"app":"aai","tool":"apps"}}`,
		"a guide":              `{"name":"app_org_example_Notes","arguments":{}}`,
		"a guide by its id":    `{"name":"app:org.example.Notes","arguments":{}}`,
		"a tool for windows":   `{"name":"ax_session_info","arguments":{}}`,
		"windows through exec": `{"name":"aai_exec","arguments":{"app":"desktop","tool":"ax_session_info"}}`,
		"as a task":            `{"name":"aai_exec","arguments":{"app":"org.example.Notes","tool":"list"}` + task + `}`,
	} {
		all = append(all, callEntry{"stdio/" + name, overStdio("tools/call", params)})
		for _, era := range []string{"2025-11-25", "2026-07-28"} {
			all = append(all, callEntry{"http " + era + "/" + name, overHTTP(era, "tools/call", params)})
		}
	}
	all = append(all,
		callEntry{"stdio/resource", overStdio("resources/read", `{"uri":"app:org.example.Notes"}`)},
		callEntry{"stdio/completion", overStdio("completion/complete",
			`{"ref":{"type":"ref/prompt","name":"test-app"},"argument":{"name":"app_name","value":"N"}}`)},
	)
	for _, line := range []string{
		"exec org.example.Notes list", "exec jotter list", "guide org.example.Notes", "apps", "history", "consent list", "scan", "mode",
		"exec desktop ax_session_info",
	} {
		all = append(all, callEntry{"cli/" + line, atTerminal(line)})
	}
	return all
}

func doorOf(t *testing.T, g *gateway.Gateway) *mcp.Door {
	t.Helper()
	return mcp.New(mcp.Config{Gateway: g, Version: "1", DirectApps: []string{aai.DesktopApp}})
}

// overStdio opens a session, makes one request and waits for its answer.
func overStdio(method, params string) func(*testing.T, *gateway.Gateway) {
	return func(t *testing.T, g *gateway.Gateway) {
		in, client := io.Pipe()
		answers, out := io.Pipe()
		served := make(chan error, 1)
		go func() { served <- doorOf(t, g).ServeStdio(t.Context(), in, out) }()
		lines := bufio.NewScanner(answers)
		lines.Buffer(nil, 1<<20)
		send := func(text string) {
			_, err := io.WriteString(client, text+"\n")
			assert.Check(t, err)
		}
		await := func(id string) {
			for lines.Scan() {
				if strings.Contains(lines.Text(), `"id":`+id) {
					return
				}
			}
			t.Errorf("no answer to request %s", id)
		}
		send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
		await("1")
		send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		send(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":%q,"params":%s}`, method, params))
		await("2")
		_ = client.Close()
		go func() { _, _ = io.Copy(io.Discard, answers) }()
		<-served
	}
}

// overHTTP makes one request of a protocol version.
func overHTTP(era, method, params string) func(*testing.T, *gateway.Gateway) {
	return func(t *testing.T, g *gateway.Gateway) {
		server, err := doorOf(t, g).HTTP(streamable.Config{})
		assert.NilError(t, err)
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		assert.NilError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- server.Serve(ctx, listener) }()
		defer func() { cancel(); <-served }()
		session := ""
		post := func(body string) {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+listener.Addr().String()+"/mcp", bytes.NewBufferString(body))
			assert.NilError(t, err)
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			req.Header.Set("MCP-Protocol-Version", era)
			req.Header.Set("Mcp-Method", method)
			var named struct{ Name string }
			if json.Unmarshal([]byte(params), &named) == nil {
				req.Header.Set("Mcp-Name", named.Name)
			}
			if session != "" {
				req.Header.Set("Mcp-Session-Id", session)
			}
			answer, err := http.DefaultClient.Do(req)
			assert.NilError(t, err)
			defer func() { _ = answer.Body.Close() }()
			text, _ := io.ReadAll(answer.Body)
			assert.Check(t, is.Equal(answer.StatusCode/100, 2), "%s %s", answer.Status, text)
			if id := answer.Header.Get("Mcp-Session-Id"); id != "" {
				session = id
			}
		}
		if era < "2026" {
			post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + era + `","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
			post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		} else {
			meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + era + `","io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},`
			params = "{" + meta + params[1:]
		}
		post(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":%q,"params":%s}`, method, params))
	}
}

// atTerminal runs one command line.
func atTerminal(line string) func(*testing.T, *gateway.Gateway) {
	return func(t *testing.T, g *gateway.Gateway) {
		cli.Run(t.Context(), cli.Config{
			Version: "1", Out: t.Output(), Err: t.Output(),
			OpenGateway: func(cli.Flags) (*gateway.Gateway, func() error, error) { return g, func() error { return nil }, nil },
		}, strings.Fields(line))
	}
}

// A call passes the gates, counts for the limits and is in the journal, for every entry.
func TestEveryEntryIsGuarded(t *testing.T) {
	for _, e := range callEntries() {
		t.Run(e.name, func(t *testing.T) {
			g, w := newTestGateway(t, policy.DefaultLimits())
			e.come(t, g)
			gated, received, outcomes := w.report()
			assert.Assert(t, len(gated) != 0, "gated %q, %d received, outcomes %q", gated, received, outcomes)
			assert.Assert(t, received >= len(gated), "gated %q, %d received, outcomes %q", gated, received, outcomes)
			assert.Assert(t, is.Len(outcomes, received), "%q %d", gated, received)
			g, w = newTestGateway(t, nil) // with no permissions
			e.come(t, g)
			gated, received, outcomes = w.report()
			assert.Assert(t, len(gated) != 0, "limited: gated %q, %d received, outcomes %q", gated, received, outcomes)
			assert.Assert(t, is.Len(outcomes, received), "%q %d", gated, received)
			for _, code := range outcomes {
				assert.Check(t, is.Equal(code, aai.RateLimited), "limited: a call ended with %q", code)
			}
		})
	}
}
