package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
)

// An app's entry in the list of tools is not one of the SDK's tools: adding one there
// allocates 100 KB, and a computer may have a thousand apps. All entries share one tool,
// which the lists do not show.

// A guide is the entry of an app.
type guide struct {
	app  string // its id
	tool *mcp.Tool
}

// guideHandlerName is the name of the one tool behind all entries. A client that calls this name
// directly gets the error for an unknown tool.
const guideHandlerName = "aai.any-guide"

type guideKey struct{}

// notifyGuides makes the SDK notify the clients of changed entries.
func (d *Door) notifyGuides() {
	d.server.AddTool(&mcp.Tool{Name: guideHandlerName, InputSchema: json.RawMessage(noParams)}, d.readGuide)
}

// readGuide returns the guide of the app with the called entry.
func (d *Door) readGuide(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	app, called := ctx.Value(guideKey{}).(string)
	if !called {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("unknown tool %q", guideHandlerName)}
	}
	return d.do(ctx, req, &aai.Call{App: aai.BuiltinApp, Tool: guideTool, Args: map[string]any{"app": app}})
}

// guideOf finds the app with the entry of that name.
func (d *Door) guideOf(name string) (app string, ok bool) {
	d.sync.Lock()
	defer d.sync.Unlock()
	g, ok := d.guides[name]
	return g.app, ok
}
