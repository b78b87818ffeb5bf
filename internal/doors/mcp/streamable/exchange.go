package streamable

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway/internal/doors/httpdoor"
	"github.com/gybob/aai-gateway/internal/doors/mcp/messages"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// An Exchange is one HTTP request for MCP and its answer. The context of a session's calls
// holds the exchange that opened the session.
type Exchange struct {
	*httpdoor.Exchange
	// Conversation identifies a session that has no session id in the SDK; empty if there
	// is none.
	Conversation string

	response *responseWriter
	server   *Server
	session  *session
	stream   string // the session's stream that the answer carries
	// arguments are the large arguments that were removed from a tools/call before the SDK reads it.
	// Middleware restores them; nil if none were removed.
	arguments json.RawMessage
	started   func() // lets the caller's next request start
}

type exchangeKey struct{}

// headerExchange is the request header with the ID of the exchange. withExchange overwrites
// a client's value.
const headerExchange = "Aai-Exchange"

// FromContext returns the exchange that opened the connection of a request, or nil if the
// request did not come by HTTP.
func FromContext(ctx context.Context) *Exchange {
	x, _ := ctx.Value(exchangeKey{}).(*Exchange)
	return x
}

// withExchange returns a handler that calls serve with a new exchange for each request.
func (h *Server) withExchange(serve func(http.ResponseWriter, *http.Request, *Exchange)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		x := &Exchange{Exchange: httpdoor.FromContext(r.Context()), server: h, response: newResponseWriter(w, h.Server.Limits().WriteTimeout, h.limits.KeepAlive)}
		defer x.response.end()
		if r.Method == http.MethodGet {
			x.MarkStreaming()
		}
		h.exchanges.Store(x.ID, x)
		defer h.exchanges.Delete(x.ID)
		// Middleware finds the exchange by this header.
		r.Header.Set(headerExchange, x.ID)
		serve(x.response, r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x)), x)
	}
}

// abort ends the exchange even if the client does not read the answer.
func (x *Exchange) abort() {
	x.Cancel()
	x.response.abort()
}

// Begin begins a message that came by HTTP: it keeps the answer alive, restores large arguments, and
// refuses a message of a session that has too many. The returned context ends with the session. The
// caller calls end when it has the answer. For other messages Begin does nothing.
func Begin(ctx context.Context, method string, req mcp.Request) (_ context.Context, end func(), err error) {
	opener := FromContext(ctx)
	if opener == nil {
		return ctx, func() {}, nil
	}
	if extra := req.GetExtra(); extra != nil && extra.Header != nil {
		if found, ok := opener.server.exchanges.Load(extra.Header.Get(headerExchange)); ok {
			x := found.(*Exchange)
			x.response.keepAlive()
			messages.RestoreArguments(req, x.arguments)
			if x.started != nil {
				ctx = gateway.WithWaitHook(ctx, x.started)
			}
		}
	}
	s := opener.session
	if s == nil || strings.HasPrefix(method, "notifications/") {
		return ctx, func() {}, nil
	}
	if session, ok := req.GetSession().(*mcp.ServerSession); ok {
		s.server.Store(session)
	}
	if !s.begin(&s.calls) {
		return nil, nil, &jsonrpc.Error{Code: codeOverloaded, Message: "too many requests of this session are running; wait until one is answered"}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })
	return ctx, func() { stop(); cancel(nil); s.finish(&s.calls) }, nil
}

// ContinueContext copies the exchange of a request to the context of work that continues
// after the answer. The session does not expire until release.
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
