package mcp

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
)

// A reporter tells the client how far its call has come. What it says grows, and
// it says nothing once the call has its answer.
type progressReporter struct {
	ctx     context.Context // of the request, which says where news of it goes
	session *mcp.ServerSession
	token   any

	mu          sync.Mutex
	hasReported bool
	last        float64
	ended       bool
}

// maxProgress is how many bytes a message of progress may have.
const maxProgress = 200

// withProgress returns a context in which what the call says of its progress goes to
// the client, until end. Clients that do not want it are those without a token.
func (d *Door) withProgress(ctx context.Context, req *mcp.CallToolRequest) (_ context.Context, end func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return ctx, func() {}
	}
	r := &progressReporter{ctx: ctx, session: req.Session, token: token}
	return aai.WithProgress(ctx, r.report), r.end
}

func (r *progressReporter) report(done, total float64, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || r.hasReported && done <= r.last || total > 0 && done > total {
		return
	}
	r.hasReported, r.last = true, done
	_ = r.session.NotifyProgress(r.ctx, &mcp.ProgressNotificationParams{ // who has gone hears nothing
		ProgressToken: r.token, Progress: done, Total: total, Message: aai.CleanLabel(message, maxProgress),
	})
}

func (r *progressReporter) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
}
