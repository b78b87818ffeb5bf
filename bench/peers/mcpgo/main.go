// Command mcpgo is a peer for the benchmarks: the same server as baresdk, made with another SDK.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func main() {
	s := server.NewMCPServer("mcpgo", "1")
	tool := mcp.NewToolWithRawSchema("echo", "Answers with its arguments.", json.RawMessage(`{"type":"object","properties":{"v":{"type":"string"}}}`))
	s.AddTool(tool, func(_ context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		text, err := json.Marshal(req.GetArguments())
		if err != nil {
			return nil, err
		}
		return mcp.NewToolResultText(string(text)), nil
	})
	serve := func() error { return server.ServeStdio(s) }
	if len(os.Args) > 1 {
		serve = func() error { return serveHTTP(s) }
	}
	if err := serve(); err != nil {
		log.Fatal(err)
	}
}

func serveHTTP(s *server.MCPServer) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/mcp\n", listener.Addr())
	return http.Serve(listener, server.NewStreamableHTTPServer(s))
}
