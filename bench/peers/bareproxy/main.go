// Command bareproxy is the baseline for servers behind the gateway: it starts the MCP server in
// its arguments and forwards calls of the tool "echo", with only the SDK's client and server.
package main

import (
	"context"
	"log"
	"os"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	ctx := context.Background()
	me := &mcp.Implementation{Name: "bareproxy", Version: "1"}
	behind, err := mcp.NewClient(me, nil).Connect(ctx, &mcp.CommandTransport{Command: exec.CommandContext(ctx, os.Args[1], os.Args[2:]...)}, nil)
	if err != nil {
		log.Fatal(err)
	}
	server := mcp.NewServer(me, nil)
	server.AddTool(&mcp.Tool{
		Name:        "echo",
		Description: "Answers with its arguments.",
		InputSchema: map[string]any{"type": "object", "properties": map[string]any{"v": map[string]any{"type": "string"}}},
	}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return behind.CallTool(ctx, &mcp.CallToolParams{Name: "echo", Arguments: req.Params.Arguments})
	})
	if err := server.Run(ctx, &mcp.StdioTransport{}); err != nil {
		log.Fatal(err)
	}
}
