package mcp

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// A progressReporter sends a call's progress to the client. The values grow, and none is
// sent after the call's answer.
type progressReporter struct {
	ctx     context.Context // of the request, which decides where notifications go
	session *mcp.ServerSession
	token   any

	mu          sync.Mutex
	hasReported bool
	last        float64
	ended       bool
}

// maxProgress limits a progress message, in bytes.
const maxProgress = 200

// withProgress returns a context that sends the call's progress to the client, until end.
// Without a progress token the client gets none.
func (d *Door) withProgress(ctx context.Context, req *mcp.CallToolRequest) (_ context.Context, end func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return ctx, func() {}
	}
	r := &progressReporter{ctx: ctx, session: req.Session, token: token}
	return gateway.WithProgress(ctx, r.report), r.end
}

func (r *progressReporter) report(done, total float64, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || r.hasReported && done <= r.last || total > 0 && done > total {
		return
	}
	r.hasReported, r.last = true, done
	_ = r.session.NotifyProgress(r.ctx, &mcp.ProgressNotificationParams{ // fails if the client has gone
		ProgressToken: r.token, Progress: done, Total: total, Message: aai.CleanLabel(message, maxProgress),
	})
}

func (r *progressReporter) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
}
