package mcp

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/mcp/tasks"
)

// longCallThreshold is the duration of a directly listed tool from which clients may run
// its calls as tasks. A longer call would exceed the timeout of clients, which is a minute
// or less.
const longCallThreshold = 20 * time.Second

// taskSupport returns whether calls of a tool may become tasks: aai_exec, because the
// duration of apps' tools is unknown, and slow tools. No tool requires tasks, because most
// clients do not support them.
func (d *Door) taskSupport(name string) tasks.Support {
	listed, _ := d.listedName(name, nil)
	if !d.onlyDirect && listed == d.toolName(execID) {
		return tasks.Optional
	}
	if !d.onlyDirect && listed == d.toolName(discoverID) {
		return tasks.Forbidden // a site has ten seconds
	}
	d.sync.Lock()
	defer d.sync.Unlock()
	if support, ok := d.supported[listed]; ok {
		return support
	}
	if tool := d.listedTools[listed]; tool != nil {
		if maxDuration(tool) > longCallThreshold {
			return tasks.Optional
		}
		return tasks.Forbidden
	}
	if _, ok := d.guides[listed]; ok {
		return tasks.Forbidden // a guide is there at once
	}
	return tasks.UnknownTool
}

func maxDuration(tool *aai.Tool) time.Duration {
	if tool.Timeout <= 0 {
		return aai.DefaultTimeout
	}
	return tool.Timeout
}

// taskOwner names the owner of a request's tasks: its conversation.
func (d *Door) taskOwner(ctx context.Context, session *mcp.ServerSession) string {
	return d.caller(ctx, session, nil).Conversation()
}
