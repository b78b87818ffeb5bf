package httpdoor

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/gybob/aai-gateway"
)

// An Exchange is one HTTP request and its answer, from beginning to end.
type Exchange struct {
	// ID is unique in the server.
	ID string
	// Principal is the principal of the token; empty if the server needs no token.
	Principal string

	server    *Server
	ctx       context.Context
	cancel    context.CancelFunc
	done      chan struct{} // closed when nothing more is written
	streaming bool          // guarded by the server's exchangeSet
}

type exchangeKey struct{}

// FromContext returns the exchange of a request to a Server's handler, or nil if ctx
// belongs to no such request.
func FromContext(ctx context.Context) *Exchange {
	x, _ := ctx.Value(exchangeKey{}).(*Exchange)
	return x
}

func (s *Server) newExchange(r *http.Request) *Exchange {
	x := &Exchange{server: s, done: make(chan struct{})}
	x.ctx, x.cancel = context.WithCancel(r.Context())
	return x
}

// Identity returns the Caller.Identity for the request, or "" without a Principal. It ends with the
// issuer if that is not this computer, because a principal is unique only for its issuer.
func (x *Exchange) Identity() string {
	switch {
	case x.Principal == "":
		return ""
	case x.server.cfg.Metadata != nil:
		return aai.IdentityPrefixHTTP + x.Principal + "@" + x.server.cfg.Metadata.Issuer
	}
	return aai.IdentityPrefixHTTP + x.Principal
}

// MarkStreaming marks the answer as a stream without an end, so that the server does not
// wait for it when it closes.
func (x *Exchange) MarkStreaming() {
	o := &x.server.exchanges
	o.mu.Lock()
	x.streaming = true
	ending := o.streamsEnded
	o.mu.Unlock()
	if ending {
		x.cancel()
	}
}

// Cancel cancels the context of the request that the handler received.
func (x *Exchange) Cancel() { x.cancel() }

// Done returns a channel that is closed when the handler has returned and nothing more is written.
func (x *Exchange) Done() <-chan struct{} { return x.done }

// end runs when the handler returns: nothing may be written after that.
func (x *Exchange) end() {
	x.cancel()
	close(x.done)
}

// exchangeSet holds the running exchanges.
type exchangeSet struct {
	last atomic.Int64

	mu           sync.Mutex
	all          map[*Exchange]struct{}
	streamsEnded bool // new streams end at once
	closed       bool
}

func (o *exchangeSet) add(x *Exchange) bool {
	x.ID = strconv.FormatInt(o.last.Add(1), 36)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return false
	}
	o.all[x] = struct{}{}
	return true
}

func (o *exchangeSet) remove(x *Exchange) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.all, x)
}

// cancelStreams cancels all streaming exchanges. From then on MarkStreaming cancels an exchange at once.
func (o *exchangeSet) cancelStreams() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.streamsEnded = true
	for x := range o.all {
		if x.streaming {
			x.cancel()
		}
	}
}

// close cancels every exchange and rejects further ones.
func (o *exchangeSet) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	for x := range o.all {
		x.cancel()
	}
}

// wait waits until all exchanges have ended or late ends. It reports whether they have
// ended.
func (o *exchangeSet) wait(late context.Context) bool {
	o.mu.Lock()
	open := slices.Collect(maps.Keys(o.all))
	o.mu.Unlock()
	for _, x := range open {
		select {
		case <-x.done:
		case <-late.Done():
			return false
		}
	}
	return true
}
