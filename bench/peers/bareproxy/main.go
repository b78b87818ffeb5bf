// Command bareproxy is the floor that servers behind the gateway are held against: it starts
// the MCP server that its arguments name and passes calls of the tool "echo" on to it, with the
// SDK's client and server and nothing else.
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
