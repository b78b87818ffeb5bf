package mcp

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/mcp/tasks"
)

// longCallThreshold is how long a tool listed itself may take before clients are offered
// to have its calls as tasks. A longer one would meet the deadline, of a minute
// or less, that clients have for calls.
const longCallThreshold = 20 * time.Second

// taskSupport says whether calls of a tool may become tasks: what runs the tools
// of apps, which nobody knows the duration of, and what may take long. No tool
// requires it, because most clients know nothing of tasks.
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

// taskOwner names whose tasks a request is about: those of its conversation.
func (d *Door) taskOwner(ctx context.Context, session *mcp.ServerSession) string {
	return d.caller(ctx, session, nil).Conversation()
}
