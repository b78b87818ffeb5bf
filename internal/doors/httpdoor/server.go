// Package httpdoor is the HTTP server under every door over HTTP. It checks Host, Origin
// and token, limits connections, bodies and the requests that start at a time, and shuts
// down in order. It knows no protocol but HTTP; each door adds its own by [Hooks] and
// [Server.Handle].
package httpdoor

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/httpdoor/bearer"
	"github.com/gybob/aai-gateway/internal/netguard"
)

// Config is the person's configuration of a server.
type Config struct {
	// Bind is the address to listen on: a name or an IP. Requests with another Host are
	// refused. Empty means 127.0.0.1.
	Bind string
	// Hosts are further names by which clients may reach this server, such as that of a
	// proxy in front of it.
	Hosts []string
	// Origins are the web pages, such as "https://app.example.com", that may use this
	// server from a browser, beside those of this computer.
	Origins []string
	// Verifier verifies tokens. If it is nil, no token is needed; New refuses that unless
	// Bind is of this computer alone.
	Verifier bearer.Verifier
	// Metadata names the authorization server of the tokens for clients (RFC 9728). It is
	// nil if there is none.
	Metadata *bearer.Metadata
	Limits   Limits
}

// Hooks adapt a server to the protocol of its door.
type Hooks struct {
	Log *slog.Logger // nil discards the log
	// CORS lists the rights of pages of the configured origins.
	CORS CORSPolicy
	// RefusalBody returns the JSON body of a refusal. Nil means an object with its message.
	RefusalBody func(Refusal) any
	// HandleForeignHost may answer a request with a wrong Host or from a foreign page. It reports
	// whether it did, and must reveal and change nothing. If it is nil or returns false, the
	// server refuses the request.
	HandleForeignHost func(http.ResponseWriter, *http.Request) bool
	// Shutdown ends everything that outlives its request, such as a session, and waits for
	// that until late ends. Close calls it once. It may be nil.
	Shutdown func(late context.Context)
}

// CORSPolicy lists the methods that pages of allowed origins may use, the request headers that
// they may send and the response headers that they may read. Commas separate items.
type CORSPolicy struct{ Methods, AllowHeaders, ExposeHeaders string }

// A Server serves one door over HTTP by the handlers set with Handle. Before a handler it
// checks Host, Origin and token, in that order. It is an http.Handler, safe for concurrent
// use once its routes are set, and must be closed.
type Server struct {
	cfg    Config
	hooks  Hooks
	limits Limits
	log    *slog.Logger

	guard        guard
	exchanges    exchangeSet
	startLimiter startLimiter
	routes       *http.ServeMux
	closeOnce    sync.Once
}

// New returns a server without routes. It returns INVALID_PARAMS if other computers could use the
// server without a token. It does no I/O.
func New(cfg Config, protocol Hooks) (*Server, error) {
	if cfg.Bind == "" {
		cfg.Bind = "127.0.0.1"
	}
	if cfg.Verifier == nil && !netguard.IsLoopback(cfg.Bind) {
		e := aai.Errorf(aai.InvalidParams, "bind: other computers can reach %s, and no client would need a token", aai.CleanLabel(cfg.Bind, 60))
		e.Hint = "Bind 127.0.0.1, or let clients authenticate by a token or by OAuth."
		return nil, e
	}
	s := &Server{
		cfg: cfg, hooks: protocol, limits: cfg.Limits.WithDefaults(), log: protocol.Log,
		guard: newGuard(cfg, protocol.CORS), exchanges: exchangeSet{all: make(map[*Exchange]struct{})}, routes: http.NewServeMux(),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if cfg.Metadata != nil {
		// With and without the path of the resource, as RFC 9728 §3.1 requires.
		s.HandlePublic(metadataPath, s.serveMetadata)
		if u, err := url.Parse(cfg.Metadata.Resource); err == nil && strings.Trim(u.Path, "/") != "" {
			s.HandlePublic(metadataPath+"/"+strings.Trim(u.Path, "/"), s.serveMetadata)
		}
	}
	return s, nil
}

// Handle registers h for authenticated requests; http.ServeMux defines the syntax of
// pattern.
func (s *Server) Handle(pattern string, h http.HandlerFunc) {
	s.HandlePublic(pattern, s.authenticated(h))
}

// HandlePublic registers h as Handle does, but for requests with and without a token.
func (s *Server) HandlePublic(pattern string, h http.HandlerFunc) { s.routes.HandleFunc(pattern, h) }

// Limits returns the limits of Config, with defaults in place of zero fields.
func (s *Server) Limits() Limits { return s.limits }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := s.newExchange(r)
	defer x.end()
	if r.Method == http.MethodPost {
		// The Go server also reads bodies of refused requests.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.limits.BodyTimeout))
	}
	s.extendWriteDeadline(w) // replaces the deadline of an earlier request on the connection
	if v := connOf(r); v != nil && v.isUnauthenticated() {
		w.Header().Set("Connection", "close") // removed once the request is authenticated
	}
	if refusal := s.guard.check(r); refusal != nil {
		if s.hooks.HandleForeignHost != nil && s.hooks.HandleForeignHost(w, r) {
			return
		}
		s.Refuse(w, *refusal)
		return
	}
	if s.guard.writeCORSHeaders(w, r) {
		return
	}
	if !s.exchanges.add(x) {
		s.Refuse(w, Refusal{Status: http.StatusServiceUnavailable, Message: "the server is closing", RetryAfter: time.Second})
		return
	}
	defer s.exchanges.remove(x)
	s.routes.ServeHTTP(w, r.WithContext(context.WithValue(x.ctx, exchangeKey{}, x)))
}

// extendWriteDeadline gives the client WriteTimeout to accept the next write.
func (s *Server) extendWriteDeadline(w http.ResponseWriter) {
	// Only writers of tests have no deadlines.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.limits.WriteTimeout))
}

// Serve serves the listener until ctx ends, and then closes l and s. Streams end at once. Other
// requests have two seconds to be answered; then Serve cancels and abandons them. Serve returns
// the context's error, or the listener's.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	defer s.Close()
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader - 4096, // Go adds as much
		ConnContext:       withConn,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	l = newLimitedListener(l, connLimitsFor(s.cfg.Verifier != nil))
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	_ = l.Close() // no new connections
	s.exchanges.cancelStreams()
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if !s.exchanges.wait(late) {
		s.log.Warn("the door closes although calls are still running")
	}
	s.Close()
	// The ends of answers are written when their handlers have returned.
	sent, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
	defer cancel()
	_ = server.Shutdown(sent) // cuts off clients that have not sent or read anything until then
	if err := server.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		s.log.Debug("closing the HTTP server", "cause", err)
	}
	<-ended
	return ctx.Err()
}

// Close cancels every request, rejects later ones, and calls Hooks.Shutdown. It waits until these
// have ended, for at most half a second.
func (s *Server) Close() {
	s.closeOnce.Do(func() {
		s.exchanges.close()
		late, cancel := context.WithTimeout(context.Background(), cancelTimeout)
		defer cancel()
		if s.hooks.Shutdown != nil {
			s.hooks.Shutdown(late)
		}
		s.exchanges.wait(late)
	})
}

// Limits bound the resources that a request can use. A zero field means its default.
type Limits struct {
	MaxBody       int64         // bytes of a request's body; default 4 MiB
	BodyTimeout   time.Duration // for a whole body to arrive; default 30 s
	StartInterval time.Duration // for which a starting request delays the caller's next one; default 100 ms
	WriteTimeout  time.Duration // for a client to accept written data; default 30 s
}

// Limits that a Config cannot change.
const (
	maxHeader       = 32 << 10 // bytes
	headerTimeout   = 10 * time.Second
	idleTimeout     = 2 * time.Minute // of a connection between requests
	maxConns        = 8192            // authenticated ones
	maxPendingBytes = 64 << 20        // bytes of bodies of one caller before their requests start
)

// Limits for connections that have not shown a token.
const (
	maxUnauthenticated        = 1024
	maxUnauthenticatedPerPeer = 64 // of one other computer
	unauthenticatedGrace      = 200 * time.Millisecond
)

// Timeouts for closing a server.
const (
	// shutdownTimeout is the time that running calls have to end when the door closes.
	// After that they are abandoned.
	shutdownTimeout = 2 * time.Second
	// cancelTimeout is the time that cancelled calls have to report their outcome.
	cancelTimeout = 500 * time.Millisecond
)

// WithDefaults returns the limits with defaults in place of zero fields.
func (l Limits) WithDefaults() Limits {
	return Limits{
		MaxBody:       cmp.Or(l.MaxBody, 4<<20),
		BodyTimeout:   cmp.Or(l.BodyTimeout, 30*time.Second),
		StartInterval: cmp.Or(l.StartInterval, 100*time.Millisecond),
		WriteTimeout:  cmp.Or(l.WriteTimeout, 30*time.Second),
	}
}
