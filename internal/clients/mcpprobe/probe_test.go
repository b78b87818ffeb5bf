package mcpprobe_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/clients/mcpprobe"
)

// asServer makes this binary an MCP server with those tools.
const asServer = "AAI_TEST_TOOLS"

func TestMain(m *testing.M) {
	tools, is := os.LookupEnv(asServer)
	if !is {
		os.Exit(m.Run())
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "example", Version: "7"}, &mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}})
	for _, name := range tools {
		mcp.AddTool(server, &mcp.Tool{Name: string(name)}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			panic("a tool is run")
		})
	}
	fmt.Fprintln(os.Stderr, "first\nlast")
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// TestRun checks that all tools of a server are returned, and that it has ended. A server without
// tools, or another program, is an error with its last output.
func TestRun(t *testing.T) {
	start := func(tools string) (*exec.Cmd, mcpprobe.Server, string, error) {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = []string{asServer + "=" + tools}
		server, said, err := mcpprobe.Run(t.Context(), cmd)
		return cmd, server, said, err
	}
	cmd, server, said, err := start("ab")
	assert.NilError(t, err, "%+v", server)
	assert.Equal(t, server.Name, "example", "%+v", server)
	assert.Equal(t, server.Version, "7", "%+v", server)
	assert.Assert(t, server.Protocol != "", "%+v", server)
	assert.Assert(t, slices.Equal(server.Tools, []string{"a", "b"}), "%+v", server)
	if said != "last" || cmd.ProcessState == nil {
		t.Errorf("it said %q, and has ended: %v", said, cmd.ProcessState)
	}
	_, _, said, err = start("")
	assert.Assert(t, err != nil, "a server without tools: %q, %v", said, err)
	assert.Equal(t, said, "last", err)
	_, _, err = mcpprobe.Run(t.Context(), exec.CommandContext(t.Context(), "true"))
	assert.Check(t, err != nil, "what says nothing is a server")
}
