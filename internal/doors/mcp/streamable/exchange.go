package streamable

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/httpdoor"
	"github.com/gybob/aai-gateway/internal/doors/mcp/messages"
)

// An Exchange is one HTTP request for MCP and its answer. The context of a session's
// calls holds the exchange that opened the session.
type Exchange struct {
	*httpdoor.Exchange
	// Conversation stands for a session where the SDK has none, of which there is one
	// all the same; empty where there is none.
	Conversation string

	response *responseWriter
	server   *Server
	session  *session
	stream   string // of the session, that the answer carries
	// arguments are those of its call that go around the SDK.
	arguments json.RawMessage
	started   func() // the caller's next request may begin
}

type exchangeKey struct{}

// headerExchange is where a message tells its exchange. What a client sends
// there is overwritten.
const headerExchange = "Aai-Exchange"

// FromContext returns the exchange by which the connection of a request was
// opened, or nil where it did not come by HTTP.
func FromContext(ctx context.Context) *Exchange {
	x, _ := ctx.Value(exchangeKey{}).(*Exchange)
	return x
}

// withExchange has serve answer requests, each as an exchange.
func (h *Server) withExchange(serve func(http.ResponseWriter, *http.Request, *Exchange)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		x := &Exchange{Exchange: httpdoor.FromContext(r.Context()), server: h, response: newResponseWriter(w, h.Server.Limits().WriteTimeout, h.limits.KeepAlive)}
		defer x.response.end()
		if r.Method == http.MethodGet {
			x.MarkStreaming()
		}
		h.exchanges.Store(x.ID, x)
		defer h.exchanges.Delete(x.ID)
		// What the door finds the exchange by, whatever the client sent there.
		r.Header.Set(headerExchange, x.ID)
		serve(x.response, r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x)), x)
	}
}

// abort ends the exchange even if the client does not take what is written.
func (x *Exchange) abort() {
	x.Cancel()
	x.response.abort()
}

// Middleware is middleware that does for messages that come by HTTP what others have no
// need of: a session counts its calls and takes them along when it ends.
func Middleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		opener := FromContext(ctx)
		if opener == nil {
			return next(ctx, method, req)
		}
		if extra := req.GetExtra(); extra != nil && extra.Header != nil {
			if found, ok := opener.server.exchanges.Load(extra.Header.Get(headerExchange)); ok {
				x := found.(*Exchange)
				x.response.keepAlive()
				req = messages.RestoreArguments(req, x.arguments)
				if x.started != nil {
					ctx = aai.WithWaitHook(ctx, x.started)
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

// ContinueContext keeps, in the context of work that goes on when its request is answered, whose
// request it came of, and the session until release.
func ContinueContext(request, work context.Context) (ctx context.Context, release func()) {
	x := FromContext(request)
	if x == nil {
		return work, func() {}
	}
	return context.WithValue(work, exchangeKey{}, x), x.holdSession()
}

// holdSession keeps the session, if there is one, from expiring until release.
func (x *Exchange) holdSession() (release func()) {
	s := x.session
	if s == nil {
		return func() {}
	}
	s.mu.Lock()
	s.pauseExpiry()
	s.mu.Unlock()
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.resumeExpiry()
	})
}
