package mcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
)

// discoverTool finds the app of a web site: it returns the app's guide and adds the app to
// the list.
func (d *Door) discoverTool() *mcp.Tool {
	return &mcp.Tool{
		Name:        d.toolName(discoverID),
		Description: "Get the guide of a web app that is not listed, by URL, domain or name.",
		InputSchema: map[string]any{
			"type":       "object",
			"properties": map[string]any{"url": map[string]any{"type": "string"}},
			"required":   []string{"url"},
		},
		OutputSchema: map[string]any{"type": "object", "properties": map[string]any{"result": map[string]any{"type": "string"}}},
		Annotations:  &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}, // OpenWorldHint is true by default
		Meta:         mcp.Meta{"aai/id": discoverID},
	}
}

func (d *Door) discover(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return d.do(ctx, req, &aai.Call{App: aai.BuiltinApp, Tool: discoverTool, Raw: req.Params.Arguments})
}
