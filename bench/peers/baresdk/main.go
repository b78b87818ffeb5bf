// Command baresdk is the baseline of the benchmarks: an MCP server with only the SDK and one tool,
// which returns its argument. It serves standard input and output, or, with the argument "http",
// all protocol versions on an address that it prints.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "baresdk", Version: "1"}, nil)
	// This form of AddTool is the cheapest: it neither derives a schema nor checks arguments.
	server.AddTool(&mcp.Tool{
		Name:        "echo",
		Description: "Answers with its arguments.",
		InputSchema: map[string]any{"type": "object", "properties": map[string]any{"v": map[string]any{"type": "string"}}},
	}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(req.Params.Arguments)}}}, nil
	})
	serve := func() error { return server.Run(context.Background(), &mcp.StdioTransport{}) }
	if len(os.Args) > 1 {
		serve = func() error { return serveHTTP(server) }
	}
	if err := serve(); err != nil {
		log.Fatal(err)
	}
}

// serveHTTP selects the handler by the version header, because a handler of the SDK supports
// either sessions or the stateless version.
func serveHTTP(server *mcp.Server) error {
	of := func(*http.Request) *mcp.Server { return server }
	sessions := mcp.NewStreamableHTTPHandler(of, nil)
	stateless := mcp.NewStreamableHTTPHandler(of, &mcp.StreamableHTTPOptions{Stateless: true})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/mcp\n", listener.Addr())
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= "2026-07-28" {
			stateless.ServeHTTP(w, r)
			return
		}
		sessions.ServeHTTP(w, r)
	}))
}
