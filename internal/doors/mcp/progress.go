package mcp

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"aai"
)

// A reporter tells the client how far its call has come. What it says grows, and
// it says nothing once the call has its answer.
type reporter struct {
	ctx     context.Context // of the request, which says where news of it goes
	session *mcp.ServerSession
	token   any

	mu    sync.Mutex
	said  bool
	last  float64
	ended bool
}

// maxProgress is how many bytes a message of progress may have.
const maxProgress = 200

// reporting returns a context in which what the call says of its progress goes to
// the client, until end. Clients that do not want it are those without a token.
func (d *Door) reporting(ctx context.Context, req *mcp.CallToolRequest) (_ context.Context, end func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return ctx, func() {}
	}
	r := &reporter{ctx: ctx, session: req.Session, token: token}
	return aai.WithProgress(ctx, r.report), r.end
}

func (r *reporter) report(done, total float64, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || r.said && done <= r.last || total > 0 && done > total {
		return
	}
	r.said, r.last = true, done
	_ = r.session.NotifyProgress(r.ctx, &mcp.ProgressNotificationParams{ // who has gone hears nothing
		ProgressToken: r.token, Progress: done, Total: total, Message: aai.CleanLabel(message, maxProgress),
	})
}

func (r *reporter) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
}
