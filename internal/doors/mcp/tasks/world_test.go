package tasks

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
)

// A world is a layer in front of a handler that a test sets, in a synctest bubble.
type world struct {
	t     *testing.T
	layer *Layer
	// run is the handler of a call.
	run func(ctx context.Context, req *mcp.CallToolRequest) (mcp.Result, error)
}

func newWorld(t *testing.T, cfg Config) *world {
	t.Helper()
	w := &world{t: t, run: func(context.Context, *mcp.CallToolRequest) (mcp.Result, error) { return said("done"), nil }}
	if cfg.Support == nil {
		cfg.Support = func(tool string) Support {
			return map[string]Support{"optional": Optional, "required": Required, "forbidden": Forbidden}[tool]
		}
	}
	cfg.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	w.layer = New(cfg)
	return w
}

func said(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// blockingCall is a call that runs until it is cancelled.
func blockingCall(ctx context.Context, _ *mcp.CallToolRequest) (mcp.Result, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// A client is one connection of the world.
type client struct {
	*world

	connection *Connection
	ctx        context.Context

	mu            sync.Mutex
	notifications []map[string]any // the notifications' parameters
}

func (w *world) client() *client {
	c := &client{world: w}
	c.connection = w.layer.Connect(func(message json.RawMessage) {
		var m struct {
			JSONRPC, Method string
			Params          map[string]any
		}
		if err := json.Unmarshal(message, &m); err != nil || m.JSONRPC != "2.0" || m.Method != "notifications/tasks/status" {
			w.t.Errorf("expected a notification, got %s", message)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.notifications = append(c.notifications, m.Params)
	})
	c.ctx = c.connection.Context(context.Background())
	return c
}

// statuses returns the statuses of a task in the client's notifications.
func (c *client) statuses(id string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var told []string
	for _, params := range c.notifications {
		if params["taskId"] == id {
			told = append(told, fmt.Sprint(params["status"]))
		}
	}
	return told
}

// meta returns the _meta of a request.
func meta(form form) mcp.Meta {
	if form == core {
		return mcp.Meta{mcp.MetaKeyProtocolVersion: coreVersion}
	}
	return mcp.Meta{
		mcp.MetaKeyProtocolVersion:    StatelessVersion,
		mcp.MetaKeyClientCapabilities: map[string]any{"extensions": map[string]any{extensionID: map[string]any{}}},
	}
}

// call calls a tool, with the "task" parameter if it is not "".
func (c *client) call(ctx context.Context, form form, tool, wanted string) (answer, error) {
	params := &mcp.CallToolParamsRaw{Name: tool, Meta: meta(form)}
	if wanted != "" {
		params.Meta[stashKey] = json.RawMessage(wanted)
	}
	return c.receive(ctx, "tools/call", &mcp.CallToolRequest{Params: params})
}

// receive passes a request to the layer.
func (c *client) receive(ctx context.Context, method string, req mcp.Request) (answer, error) {
	result, err := c.layer.Receive(ctx, method, req, func(ctx context.Context, _ string, req mcp.Request) (mcp.Result, error) {
		call, ok := req.(*mcp.CallToolRequest)
		if !ok {
			return nil, methodNotFound()
		}
		return c.run(ctx, call)
	})
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(result)
	assert.NilError(c.t, err)
	var a answer
	assert.NilError(c.t, json.Unmarshal(b, &a))
	return a, nil
}

// ask sends a request about a task.
func (c *client) ask(form form, method, id string) (answer, error) {
	return c.about(c.ctx, form, method, &params{TaskID: id})
}

func (c *client) about(ctx context.Context, form form, method string, p *params) (answer, error) {
	p.Meta = meta(form)
	return c.receive(ctx, method, &mcp.ServerRequest[*params]{Params: p})
}

// begin makes a task and returns its id.
func (c *client) begin(form form) string {
	c.t.Helper()
	wanted := ""
	if form == core {
		wanted = `{}`
	}
	a, err := c.call(c.ctx, form, "optional", wanted)
	assert.NilError(c.t, err)
	if id := a.id(); id != "" {
		return id
	}
	c.t.Fatalf("expected a task, got %v", a)
	return ""
}

// status returns the status of a task, or "" if there is none.
func (c *client) status(form form, id string) string {
	c.t.Helper()
	a, err := c.ask(form, "tasks/get", id)
	if err != nil {
		assert.Check(c.t, code(err) == jsonrpc.CodeInvalidParams, "expected that there is no such task, got %v", err)
		return ""
	}
	status, _ := a["status"].(string)
	return status
}

// An answer is a result as the client gets it.
type answer map[string]any

func (a answer) id() string {
	if task, ok := a["task"].(map[string]any); ok {
		a = task
	}
	id, _ := a["taskId"].(string)
	return id
}

// text returns the text of a tool's result.
func (a answer) text() string {
	contents, _ := a["content"].([]any)
	if len(contents) == 0 {
		return ""
	}
	first, _ := contents[0].(map[string]any)
	text, _ := first["text"].(string)
	return text
}

func code(err error) int64 { return asWireError(err).Code }

// holds asserts the number of tasks and bytes in the store.
func (w *world) holds(tasks, bytes int) {
	w.t.Helper()
	s := w.layer.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byID) != tasks || s.bytes != bytes || (tasks == 0) != (len(s.owners) == 0) {
		w.t.Errorf("the store has %d tasks of %d owners with %d bytes, expected %d tasks with %d bytes", len(s.byID), len(s.owners), s.bytes, tasks, bytes)
	}
}
