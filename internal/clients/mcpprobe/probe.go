// Package mcpprobe starts an MCP server over standard input and output, as an agent's client
// does. It initializes a session, lists the tools and closes the session. This shows that the
// server is reachable without calling a tool.
package mcpprobe

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Server holds the facts that an MCP server reports about itself, and the names of its tools.
type Server struct {
	Name, Version string
	Protocol      string // the negotiated version of MCP
	Tools         []string
}

// Run starts the command, which must have its environment and folder set, and ends it before it
// returns. A server without tools is an error. With an error, said is the last line of the
// command's standard error.
func Run(ctx context.Context, cmd *exec.Cmd) (server Server, said string, err error) {
	last := new(tail)
	cmd.Stderr = last
	server, err = handshake(ctx, cmd)
	return server, last.line(), err
}

func handshake(ctx context.Context, cmd *exec.Cmd) (server Server, err error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "aai-gateway", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd, TerminateDuration: 3 * time.Second}, nil)
	if err != nil {
		return Server{}, err
	}
	defer func() { _ = session.Close() }() // the probe is complete
	begun := session.InitializeResult()
	if begun == nil || begun.ServerInfo == nil {
		return Server{}, errors.New("it does not give its name")
	}
	server = Server{Name: begun.ServerInfo.Name, Version: begun.ServerInfo.Version, Protocol: begun.ProtocolVersion}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return Server{}, err
		}
		server.Tools = append(server.Tools, tool.Name)
	}
	if len(server.Tools) == 0 {
		return Server{}, errors.New("it has no tools")
	}
	return server, nil
}

// A tail keeps the last bytes written to it.
type tail struct {
	lock sync.Mutex
	text []byte
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	const most = 4 << 10
	t.lock.Lock()
	defer t.lock.Unlock()
	t.text = append(t.text, p...)
	if n := len(t.text) - most; n > 0 {
		t.text = append(t.text[:0], t.text[n:]...)
	}
	return len(p), nil
}

// line returns the last line that is not blank.
func (t *tail) line() string {
	t.lock.Lock()
	defer t.lock.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
