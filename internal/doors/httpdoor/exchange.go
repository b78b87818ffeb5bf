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
	// ID is that of no other exchange of the server.
	ID string
	// Principal is whom the token speaks for; empty where nobody is asked for one.
	Principal string

	server    *Server
	ctx       context.Context
	cancel    context.CancelFunc
	done      chan struct{} // closed when nothing more is written
	streaming bool          // guarded by the server's open requests
}

type exchangeKey struct{}

// FromContext returns the exchange that a request of a Server's handler is part of. Where the
// context is of no request there is none.
func FromContext(ctx context.Context) *Exchange {
	x, _ := ctx.Value(exchangeKey{}).(*Exchange)
	return x
}

func (s *Server) newExchange(r *http.Request) *Exchange {
	x := &Exchange{server: s, done: make(chan struct{})}
	x.ctx, x.cancel = context.WithCancel(r.Context())
	return x
}

// Identity is who sends the request for certain: the principal, and who vouches for
// that where it is not this computer. A name means something with its issuer alone.
func (x *Exchange) Identity() string {
	switch {
	case x.Principal == "":
		return ""
	case x.server.cfg.Metadata != nil:
		return aai.IdentityHTTP + x.Principal + "@" + x.server.cfg.Metadata.Issuer
	}
	return aai.IdentityHTTP + x.Principal
}

// MarkStreaming says that the answer is a stream that ends only when somebody ends it, so
// that the end of the server need not wait for it.
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

// Cancel ends the context of the request.
func (x *Exchange) Cancel() { x.cancel() }

// Done is closed when the handler has returned and nothing more is written.
func (x *Exchange) Done() <-chan struct{} { return x.done }

// end is called when the handler returns: nothing may be written from then on.
func (x *Exchange) end() {
	x.cancel()
	close(x.done)
}

// exchangeSet are the exchanges that have begun and not ended.
type exchangeSet struct {
	last atomic.Int64

	mu           sync.Mutex
	all          map[*Exchange]struct{}
	streamsEnded bool // streams need not begin
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

// cancelStreams ends the streams that would last.
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

// close ends every exchange, and lets no further one begin.
func (o *exchangeSet) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	for x := range o.all {
		x.cancel()
	}
}

// wait waits until all exchanges have ended, or it is late. It reports whether
// they have.
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
