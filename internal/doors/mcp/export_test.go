package mcp

import (
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway/internal/doors/mcp/tasks"
)

// NewAltered is New for a test that adds to the server: alter may change the SDK's options before the
// server is made.
func NewAltered(cfg Config, alter func(*mcp.ServerOptions)) *Door { return newDoor(cfg, alter) }

// Server returns the server that the door's transports serve.
func (d *Door) Server() *mcp.Server { return d.server }

// SupportTasks sets the task support of tools that a test adds.
func (d *Door) SupportTasks(by map[string]tasks.Support) { d.supported = by }
