package httpdoor

import (
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

// Config is how a person wants a server to be.
type Config struct {
	// Bind is the address that is listened on: a name or an IP. Requests that
	// name another host are refused. Empty: 127.0.0.1.
	Bind string
	// Hosts are further names by which clients may call this server, such as that
	// of a proxy in front of it.
	Hosts []string
	// Origins are the web pages, such as "https://app.example.com", that may use
	// this server from a browser, beside those of this computer.
	Origins []string
	// Verifier says who a token speaks for. Nil: nobody is asked for one, which is
	// refused unless Bind is of this computer alone.
	Verifier bearer.Verifier
	// Metadata, where tokens come from an authorization server, tells clients
	// which (RFC 9728).
	Metadata *bearer.Metadata
	Limits   Limits
}

// A Protocol is what a door says in a server, as far as the server must know.
type Hooks struct {
	Log *slog.Logger // nil: nowhere
	// CORS is what pages of the configured origins may do.
	CORS CORSPolicy
	// RefusalBody is what a refusal holds, to be written as JSON. Nil: its message.
	RefusalBody func(Refusal) any
	// HandleForeignHost answers a request that came by a wrong name or from a strange page, and reports
	// whether it did; it must tell nothing and do nothing. Nil: it is refused like others.
	HandleForeignHost func(http.ResponseWriter, *http.Request) bool
	// Shutdown ends what outlives its request, such as a session, and waits for it, until
	// late at most. It is called once, by Close. Nil: there is nothing.
	Shutdown func(late context.Context)
}

// CORSPolicy is what pages of allowed origins may do: the methods that they may use, the
// headers that they may send and those of answers that they may see, each with commas
// between them.
type CORSPolicy struct{ Methods, AllowHeaders, ExposeHeaders string }

// A Server serves one door over HTTP: what Handle was given for a path. It looks at
// Host, Origin and token before, in that order. It is an http.Handler, safe for
// concurrent use once its paths are set, and must be closed.
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

// New returns a server. It does no I/O.
func New(cfg Config, protocol Hooks) (*Server, error) {
	if cfg.Bind == "" {
		cfg.Bind = "127.0.0.1"
	}
	if cfg.Verifier == nil && !netguard.IsLoopback(cfg.Bind) {
		e := aai.Errorf(aai.InvalidParams, "bind: %s can be reached from other computers, and nobody would be asked for a token", aai.CleanLabel(cfg.Bind, 60))
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
		// With and without the path of the resource, as RFC 9728 §3.1 has it.
		s.HandlePublic(metadataPath, s.serveMetadata)
		if u, err := url.Parse(cfg.Metadata.Resource); err == nil && strings.Trim(u.Path, "/") != "" {
			s.HandlePublic(metadataPath+"/"+strings.Trim(u.Path, "/"), s.serveMetadata)
		}
	}
	return s, nil
}

// Handle has requests for the pattern, as http.ServeMux reads it, served by h: those
// whose sender may be here.
func (s *Server) Handle(pattern string, h http.HandlerFunc) {
	s.HandlePublic(pattern, s.authenticated(h))
}

// HandlePublic is Handle for what everybody may see, without a token.
func (s *Server) HandlePublic(pattern string, h http.HandlerFunc) { s.routes.HandleFunc(pattern, h) }

// Limits are those that hold.
func (s *Server) Limits() Limits { return s.limits }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := s.newExchange(r)
	defer x.end()
	if r.Method == http.MethodPost {
		// Also the Go server reads bodies, of requests that were refused.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.limits.BodyTimeout))
	}
	s.extendWriteDeadline(w) // also what was set for another request of the connection is over
	if v := connOf(r); v != nil && v.isUnauthenticated() {
		w.Header().Set("Connection", "close") // unless it turns out to be none
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

// extendWriteDeadline gives the client time to take what is written next.
func (s *Server) extendWriteDeadline(w http.ResponseWriter) {
	// A writer that knows no deadlines is one of a test.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.limits.WriteTimeout))
}

// Serve serves the listener until ctx ends, and closes both. Streams that would
// last end at once then, requests have two seconds to be answered, and what is
// still running is cancelled and left behind. It returns the context's error, or
// what was wrong with the listener.
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
	_ = l.Close() // nobody more
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
	_ = server.Shutdown(sent) // those who have not sent or taken anything until then are cut off
	if err := server.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		s.log.Debug("closing the HTTP server", "cause", err)
	}
	<-ended
	return ctx.Err()
}

// Close ends every request, and what outlives them, and waits until they have ended
// and are on record, or for half a second.
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
