package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"aai"
)

// An exchange is one HTTP request and its answer, from beginning to end. The
// context of a session's calls holds the exchange that opened the session.
type exchange struct {
	id        string
	ctx       context.Context
	cancel    context.CancelFunc
	done      chan struct{} // closed when nothing more is written
	reply     *reply
	lasting   bool   // a stream that ends only when somebody ends it
	principal string // who was authenticated
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

func (h *HTTPServer) newExchange(w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{server: h, done: make(chan struct{}), lasting: r.Method == http.MethodGet}
	x.ctx, x.cancel = context.WithCancel(r.Context())
	x.reply = newReply(w, h.limits)
	return x
}

// conversationIn is what stands for a session where the SDK has none. Without
// sessions it is whoever sends the requests, as long as the door is open.
func (x *exchange) conversationIn(d *Door) string {
	switch {
	case x.conversation != "":
		return x.conversation
	case x.principal != "":
		return d.session + "/" + x.principal
	}
	return d.session
}

// identity is who sends the requests for certain: the principal, and who vouches for
// that where it is not this computer. A name means something with its issuer alone.
func (x *exchange) identity() string {
	switch {
	case x.principal == "":
		return ""
	case x.server.cfg.Metadata != nil:
		return aai.IdentityHTTP + x.principal + "@" + x.server.cfg.Metadata.Issuer
	}
	return aai.IdentityHTTP + x.principal
}

// end is called when the handler returns: nothing may be written from then on.
func (x *exchange) end() {
	x.reply.end()
	x.cancel()
	close(x.done)
}

// abort ends the exchange even if the client does not take what is written.
func (x *exchange) abort() {
	x.cancel()
	x.reply.abort()
}

// openRequests are the exchanges that have begun and not ended.
type openRequests struct {
	last atomic.Int64

	mu     sync.Mutex
	byID   map[string]*exchange
	closed bool
}

func (o *openRequests) add(x *exchange) bool {
	x.id = strconv.FormatInt(o.last.Add(1), 36)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return false
	}
	o.byID[x.id] = x
	return true
}

func (o *openRequests) remove(x *exchange) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.byID, x.id)
}

func (o *openRequests) find(id string) *exchange {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.byID[id]
}

// all returns those that are open, or only those that end when somebody ends
// them.
func (o *openRequests) all(onlyLasting bool) []*exchange {
	o.mu.Lock()
	defer o.mu.Unlock()
	found := make([]*exchange, 0, len(o.byID))
	for _, x := range o.byID {
		if x.lasting || !onlyLasting {
			found = append(found, x)
		}
	}
	return found
}

// refuseMore lets no further exchange begin.
func (o *openRequests) refuseMore() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
}

// close ends every exchange.
func (o *openRequests) close() {
	o.refuseMore()
	for _, x := range o.all(false) {
		x.cancel()
	}
}

// wait waits until all exchanges have ended, or it is late. It reports whether
// they have.
func (o *openRequests) wait(late <-chan time.Time) bool {
	for _, x := range o.all(false) {
		select {
		case <-x.done:
		case <-late:
			return false
		}
	}
	return true
}

// inExchange does for messages that come by HTTP what stdio has no need of: a
// session counts its calls and takes them along when it ends.
func (d *Door) inExchange(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		opener := exchangeOf(ctx)
		if opener == nil {
			return next(ctx, method, putBack(req, lifted(req)))
		}
		if extra := req.GetExtra(); extra != nil && extra.Header != nil {
			if x := opener.server.open.find(extra.Header.Get(headerExchange)); x != nil {
				x.reply.keepAlive()
				req = putBack(req, x.arguments)
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
