package mcp

import (
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway/internal/doors/mcp/tasks"
)

// NewAltered is New for a test that adds to the server: alter may change the options of the server and
// of tasks before they are made.
func NewAltered(cfg Config, alter func(*mcp.ServerOptions, *tasks.Config)) *Door {
	return newDoor(cfg, alter)
}

// Server returns the server that the door's transports serve.
func (d *Door) Server() *mcp.Server { return d.server }
