package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"aai"
	"aai/internal/doors/httpdoor"
	"aai/internal/doors/mcp/messages"
)

// An exchange is one HTTP request for MCP and its answer. The context of a session's
// calls holds the exchange that opened the session.
type exchange struct {
	*httpdoor.Exchange
	reply *reply
	// conversation is what the door calls the session where the SDK has none.
	conversation string

	server  *HTTPServer
	session *session
	stream  string // of the session, that the answer carries
	// arguments are those of its call that go around the SDK.
	arguments json.RawMessage
	started   func() // the caller's next request may begin
}

type exchangeKey struct{}

// headerExchange is where a message tells its exchange. What a client sends
// there is overwritten.
const headerExchange = "Aai-Exchange"

// exchangeOf returns the exchange by which the connection of a request was
// opened, or nil where it did not come by HTTP.
func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// exchanging has serve answer requests, each as an exchange.
func (h *HTTPServer) exchanging(serve func(http.ResponseWriter, *http.Request, *exchange)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		x := &exchange{Exchange: httpdoor.Of(r.Context()), server: h, reply: newReply(w, h.Server.Limits().Write, h.limits.KeepAlive)}
		defer x.reply.end()
		if r.Method == http.MethodGet {
			x.Lasts()
		}
		h.open.Store(x.ID, x)
		defer h.open.Delete(x.ID)
		// What the door finds the exchange by, whatever the client sent there.
		r.Header.Set(headerExchange, x.ID)
		serve(x.reply, r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x)), x)
	}
}

// conversationIn is what stands for a session where the SDK has none. Without
// sessions it is whoever sends the requests, as long as the door is open.
func (x *exchange) conversationIn(d *Door) string {
	switch {
	case x.conversation != "":
		return x.conversation
	case x.Principal != "":
		return d.session + "/" + x.Principal
	}
	return d.session
}

// abort ends the exchange even if the client does not take what is written.
func (x *exchange) abort() {
	x.Cancel()
	x.reply.abort()
}

// inExchange does for messages that come by HTTP what stdio has no need of: a
// session counts its calls and takes them along when it ends.
func (d *Door) inExchange(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		opener := exchangeOf(ctx)
		if opener == nil {
			return next(ctx, method, messages.PutBack(req, messages.Lifted(req)))
		}
		if extra := req.GetExtra(); extra != nil && extra.Header != nil {
			if found, ok := opener.server.open.Load(extra.Header.Get(headerExchange)); ok {
				x := found.(*exchange)
				x.reply.keepAlive()
				req = messages.PutBack(req, x.arguments)
				if x.started != nil {
					ctx = aai.WithWaits(ctx, x.started)
				}
			}
		}
		s := opener.session
		if s == nil || strings.HasPrefix(method, "notifications/") {
			return next(ctx, method, req)
		}
		if session, ok := req.GetSession().(*mcp.ServerSession); ok {
			s.server.Store(session)
		}
		if !s.beginCall() {
			return nil, &jsonrpc.Error{Code: codeOverloaded, Message: "too many requests of this session are running; wait until one is answered"}
		}
		defer s.endCall()
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })()
		return next(ctx, method, req)
	}
}

// holdSession keeps the session of the context from expiring until release: for
// work that goes on when its request is answered.
func holdSession(ctx context.Context) (release func()) {
	x := exchangeOf(ctx)
	if x == nil || x.session == nil {
		return func() {}
	}
	s := x.session
	s.mu.Lock()
	s.hold()
	s.mu.Unlock()
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.unhold()
	})
}
