package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/drivers/mcp"
)

// worldWithPerson returns a world that answers questions itself, in place of a window.
func worldWithPerson(t *testing.T, more ...func(*mcp.Config)) *world {
	var w *world
	w = newWorld(t, append(more, func(c *mcp.Config) {
		c.Secrets = &memorySecrets{kept: map[string][]byte{}}
		c.Asker = asker(func(ctx context.Context, q aai.Question) (aai.Answer, error) { return w.Gateway.Ask(ctx, q) })
	})...)
	return w
}

type asker func(context.Context, aai.Question) (aai.Answer, error)

func (a asker) Ask(ctx context.Context, q aai.Question) (aai.Answer, error) { return a(ctx, q) }

// trust runs the builtin tool as a user who has reauthenticated.
func (w *world) trust(t *testing.T, app string, asks ...any) {
	t.Helper()
	tools := w.Tools(func() aai.Catalog { return w.Catalog })
	i := slices.IndexFunc(tools, func(tool *aai.Tool) bool { return tool.Name == mcp.TrustTool })
	_, err := tools[i].Run(t.Context(), &aai.Call{Args: map[string]any{"app": app, "asks": asks}})
	assert.NilError(t, err)
}

// client returns the context of a call with the client capabilities a.
func client(t *testing.T, a aai.ClientCapabilities) context.Context {
	return aai.WithClientCapabilities(t.Context(), a)
}

const (
	elicits = "trigger-elicitation-request"
	samples = "trigger-sampling-request"
)

// A real server without permission does not offer the tools that need it; with permission, its
// question appears at the client, as the server's own.
func TestEverythingServerAsksThePerson(t *testing.T) {
	w := worldWithPerson(t)
	app := w.add(t, realServer(t, "mcp-server-everything"))
	w.start(t, app)
	assert.Assert(t, w.tool(t, app, elicits) == nil, "it was told that it may ask")
	assert.Assert(t, w.tool(t, app, samples) == nil, "it was told that it may ask")
	w.trust(t, app, "elicitation")
	assert.Assert(t, w.tool(t, app, elicits) != nil, "it was not told what it may ask for, or more")
	assert.Assert(t, w.tool(t, app, samples) == nil, "it was not told what it may ask for, or more")
	var shown aai.Form
	ctx := client(t, aai.ClientCapabilities{Elicit: func(_ context.Context, f aai.Form) (*aai.FormAnswer, error) {
		shown = f
		return &aai.FormAnswer{Action: "accept", Values: map[string]any{"name": "Ann", "check": true, "more": "is not asked for"}}, nil
	}})
	r, e := w.callIn(ctx, app, elicits, nil)
	assert.Assert(t, e == nil, e)
	assert.Assert(t, strings.HasPrefix(shown.Message, "The MCP server of "+app+" asks this, not the gateway:\n"+aai.QuoteMark), "shown was %+v %s", shown.Message, shown.Fields)
	assert.Assert(t, is.Contains(string(shown.Fields), `"name"`), "%+v %s", shown.Message, shown.Fields)
	assert.Assert(t, is.Contains(r.Text, "Ann"), "%+v", r)
	assert.Assert(t, !strings.Contains(r.Text, "is not asked for"), "%+v", r)
	assert.Equal(t, r.Warning, "", "%+v", r)
	// A window has no text fields: a form with one is refused with a reason.
	w.questions()
	r, e = w.callIn(t.Context(), app, elicits, nil)
	assert.Check(t, e != nil || strings.Contains(r.Warning+r.Text, "text fields"), "%+v %v", r, e)
	assert.Check(t, e == nil || strings.Contains(e.Message, "text fields"), "%+v %v", r, e)
	w.trust(t, app)
	assert.Check(t, w.tool(t, app, elicits) == nil, "it may ask after the person took that back")
}

// A real server gets a text from the caller's model, with the user's permission.
func TestEverythingServerAsksAModel(t *testing.T) {
	w := worldWithPerson(t)
	app := w.add(t, realServer(t, "mcp-server-everything"))
	w.start(t, app)
	w.trust(t, app, "sampling")
	var asked aai.SamplingRequest
	ctx := client(t, aai.ClientCapabilities{Sample: func(_ context.Context, ask aai.SamplingRequest) (*aai.SamplingResult, error) {
		asked = ask
		return &aai.SamplingResult{Model: "small", Text: "A text by a model.", StopReason: "endTurn"}, nil
	}})
	r, e := w.callIn(ctx, app, samples, map[string]any{"prompt": "Say something.", "maxTokens": 1000000})
	assert.Assert(t, e == nil, "%+v %v", r, e)
	assert.Assert(t, is.Contains(r.Text, "A text by a model."), "%+v %v", r, e)
	b, _ := json.Marshal(asked.Messages)
	assert.Equal(t, asked.MaxTokens, 4096, "%+v", asked)
	assert.Assert(t, is.Contains(asked.System, "The MCP server of "+app), "%+v", asked)
	assert.Assert(t, is.Contains(string(b), "Say something."), "%+v", asked)
	assert.Assert(t, is.Len(asked.Tools, 0), "%+v", asked)
	// A client without a model: refused with a reason.
	r, e = w.callIn(t.Context(), app, samples, map[string]any{"prompt": "Say something."})
	assert.Check(t, e != nil || strings.Contains(r.Text+r.Warning, "offers no model"), "%+v %v", r, e)
	assert.Check(t, e == nil || strings.Contains(e.Message, "offers no model"), "%+v %v", r, e)
}

// A window shows a suitable form as the server's text; forbidden forms are not shown.
func TestQuestionsOfAServer(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"object","properties":{}}`:                                              "accept",
		`{"type":"object","properties":{"sure":{"type":"boolean"}},"required":["sure"]}`: `accept {"sure":true}`,
		`{"type":"object","properties":{"size":{"type":"string","enum":["s","l"]}}}`:     `accept {"size":"s"}`,
		`{"type":"object","properties":{"password":{"type":"string"}}}`:                  "asks for a secret",
		`{"type":"object","properties":{"n":{"type":"string"}}}`:                         "text fields",
		`{"type":"object","properties":{"a":{"type":"boolean"},"b":{"type":"boolean"}}}`: "text fields",
		`url`:   "open a page",
		`twice`: "asked the person 3 times",
	} {
		w := worldWithPerson(t)
		w.answer = "always"
		app := w.hostile(t, "asker", schema)
		w.start(t, app)
		w.trust(t, app, "elicitation")
		_, _ = w.call(t, app, "ask", nil) // the user allows the tool permanently
		w.questions()
		w.mu.Lock()
		w.answer = "choice1"
		w.mu.Unlock()
		r, e := w.call(t, app, "ask", nil)
		if e != nil {
			t.Errorf("%s: %v", schema, e)
			continue
		}
		assert.Check(t, is.Contains(r.Text+" "+r.Warning, want), "%s %q %q", schema, r.Text, r.Warning)
		for _, q := range w.questions() {
			assert.Assert(t, is.Contains(q.Text, "asks this, not the gateway:\n"+aai.QuoteMark+"Do you want it?"), "%s %+v", schema, q)
			assert.Assert(t, q.CallerIdentity != "", "%s %+v", schema, q)
		}
	}
}

// runAskingServer is a server with one tool, which asks the user for the schema and returns the result.
func runAskingServer(schema string) {
	in := bufio.NewReader(os.Stdin)
	read := func() (m struct {
		ID     any
		Method string
		Params map[string]any
		Result json.RawMessage
		Error  *struct{ Message string }
	}) {
		for m.ID == nil {
			line, err := in.ReadBytes('\n')
			if err != nil {
				os.Exit(0)
			}
			_ = json.Unmarshal(line, &m)
		}
		return m
	}
	for {
		m := read()
		var result any = dict{"tools": []any{dict{"name": "ask", "inputSchema": dict{"type": "object"}}}}
		switch m.Method {
		case "initialize":
			result = dict{"protocolVersion": "2025-11-25", "capabilities": dict{"tools": dict{}}, "serverInfo": dict{"name": "asker", "version": "1"}}
		case "tools/call":
			told, times := "", 1
			if schema == "twice" {
				times = 4
			}
			for i := range times {
				params := dict{"mode": "form", "message": "Do you want it?", "requestedSchema": json.RawMessage(`{"type":"object","properties":{}}`)}
				switch schema {
				case "url":
					params = dict{"mode": "url", "message": "Do you want it?", "url": "https://example.com/", "elicitationId": "1"}
				case "twice":
				default:
					params["requestedSchema"] = json.RawMessage(schema)
				}
				say(dict{"jsonrpc": "2.0", "id": fmt.Sprint("q", i), "method": "elicitation/create", "params": params})
				var got struct {
					Action  string
					Content json.RawMessage
				}
				if a := read(); a.Error != nil {
					told = a.Error.Message
				} else if _ = json.Unmarshal(a.Result, &got); true {
					told = got.Action + " " + string(got.Content)
				}
			}
			result = dict{"content": []any{dict{"type": "text", "text": told}}}
		}
		say(dict{"jsonrpc": "2.0", "id": m.ID, "result": result})
	}
}
