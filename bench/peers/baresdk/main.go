// Command baresdk is the floor that the benchmarks hold the gateway against: an
// MCP server on standard input and output that is nothing but the SDK and one
// tool, which answers with its argument.
package main

import (
	"context"
	"log"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "baresdk", Version: "1"}, nil)
	// The form of AddTool that neither derives a schema nor checks against one is
	// the cheapest there is.
	server.AddTool(&mcp.Tool{
		Name:        "echo",
		Description: "Answers with its arguments.",
		InputSchema: map[string]any{"type": "object", "properties": map[string]any{"v": map[string]any{"type": "string"}}},
	}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(req.Params.Arguments)}}}, nil
	})
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Fatal(err)
	}
}
