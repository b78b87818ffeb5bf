package mcp

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"aai"
	"aai/internal/doors/httpdoor/bearer"
	"aai/internal/doors/mcp/tasks"
)

// The paths that are served.
const (
	httpPath     = "/mcp"
	ssePath      = "/sse"
	metadataPath = "/.well-known/oauth-protected-resource"
)

// The headers of the protocol.
const (
	headerVersion   = "Mcp-Protocol-Version"
	headerSession   = "Mcp-Session-Id"
	headerLastEvent = "Last-Event-Id"
)

// HTTPConfig is what an HTTPServer needs.
type HTTPConfig struct {
	// Bind is the address that is listened on: a name or an IP. Requests that
	// name another host are refused.
	Bind string
	// Hosts are further names by which clients may call this server, such as that
	// of a proxy in front of it.
	Hosts []string
	// Origins are the web pages, such as "https://app.example.com", that may use
	// this server from a browser, beside those of this computer.
	Origins []string
	// Auth says who a token speaks for. Nil: nobody is asked for one, which is
	// refused unless Bind is of this computer alone.
	Auth bearer.Verifier
	// Metadata, where tokens come from an authorization server, tells clients
	// which (RFC 9728).
	Metadata *bearer.Metadata
	// SSE serves the transport of protocol version 2024-11-05 too, on /sse.
	SSE    bool
	Limits HTTPLimits
}

// An HTTPServer serves MCP clients of every version over Streamable HTTP, on
// /mcp: up to 2025-11-25 in sessions, from 2026-07-28 on each request by itself.
// It is an http.Handler, safe for concurrent use, and must be closed.
//
// A client that goes away in the middle of a call ends the call where there are
// no sessions: nobody could have the result. In a session the call goes on, as
// the protocol wants it ("disconnection should not be interpreted as the client
// cancelling its request"), and its result can be fetched with Last-Event-ID
// until the session ends.
type HTTPServer struct {
	door   *Door
	cfg    HTTPConfig
	limits HTTPLimits
	log    *slog.Logger

	guard     guard
	sessions  *sessions
	open      openRequests
	starts    starts
	routes    *http.ServeMux
	legacy    http.Handler // versions with sessions
	modern    http.Handler // those without
	unfollow  func()
	closeOnce sync.Once
}

// HTTP returns a server for the door. It follows the list of apps until Close.
func (d *Door) HTTP(cfg HTTPConfig) (*HTTPServer, error) {
	if cfg.Bind == "" {
		cfg.Bind = "127.0.0.1"
	}
	if cfg.Auth == nil && !isLoopback(cfg.Bind) {
		e := aai.Errorf(aai.InvalidParams, "bind: %s can be reached from other computers, and nobody would be asked for a token", aai.CleanLabel(cfg.Bind, 60))
		e.Hint = "Bind 127.0.0.1, or let clients authenticate by a token or by OAuth."
		return nil, e
	}
	h := &HTTPServer{door: d, cfg: cfg, limits: cfg.Limits.withDefaults(), log: d.log, guard: newGuard(cfg)}
	h.sessions = newSessions(h.limits)
	h.open.byID = make(map[string]*exchange)
	server := func(*http.Request) *mcp.Server { return d.server }
	log := slog.New(warnings{d.log.Handler()})
	h.legacy = tasks.HTTP(mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
		EventStore: h.sessions, Logger: log,
		DisableLocalhostProtection: true, MaxRequestBodyBytes: h.limits.Body, // both are looked at before
	}))
	h.modern = tasks.HTTP(mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true, Logger: log,
		DisableLocalhostProtection: true, MaxRequestBodyBytes: h.limits.Body,
	}))
	h.routes = h.newRoutes(server)
	h.unfollow = d.follow(context.Background())
	return h, nil
}

func (h *HTTPServer) newRoutes(server func(*http.Request) *mcp.Server) *http.ServeMux {
	routes := http.NewServeMux()
	routes.HandleFunc(httpPath, h.authenticated(h.serveMCP))
	if h.cfg.SSE {
		sse := mcp.NewSSEHandler(server, &mcp.SSEOptions{DisableLocalhostProtection: true, MaxRequestBodyBytes: h.limits.Body})
		routes.HandleFunc(ssePath, h.authenticated(h.serveSSE(sse)))
	}
	if h.cfg.Metadata != nil {
		// With and without the path of the resource, as RFC 9728 §3.1 has it.
		routes.HandleFunc(metadataPath, h.serveMetadata)
		if u, err := url.Parse(h.cfg.Metadata.Resource); err == nil && strings.Trim(u.Path, "/") != "" {
			routes.HandleFunc(metadataPath+"/"+strings.Trim(u.Path, "/"), h.serveMetadata)
		}
	}
	routes.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound, codeInvalidRequest, "there is nothing here; MCP is served on "+httpPath)
	})
	return routes
}

// ServeHTTP implements http.Handler.
func (h *HTTPServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := h.newExchange(w, r)
	defer x.end()
	if r.Method == http.MethodPost {
		// Also the Go server reads bodies, of requests that were refused.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(h.limits.Upload))
	}
	if v := visitorOf(r); v != nil && v.isStranger() {
		x.reply.Header().Set("Connection", "close") // unless it turns out to be none
	}
	if !h.guard.admit(x.reply, r) {
		return
	}
	if !h.open.add(x) {
		x.reply.Header().Set("Retry-After", "1")
		refuse(x.reply, http.StatusServiceUnavailable, codeOverloaded, "the server is closing")
		return
	}
	defer h.open.remove(x)
	r = r.WithContext(context.WithValue(x.ctx, exchangeKey{}, x))
	// What the door finds the exchange by, whatever the client sent there.
	r.Header.Set(headerExchange, x.id)
	h.routes.ServeHTTP(x.reply, r)
}

// serveMCP serves the one address of the protocol.
func (h *HTTPServer) serveMCP(w http.ResponseWriter, r *http.Request) {
	x := exchangeOf(r.Context())
	var sent post
	if r.Method == http.MethodPost {
		var end func()
		var ok bool
		if sent, end, ok = h.readPost(w, r); !ok {
			return
		}
		defer end()
		sent.lift()
		r.Body, x.arguments = body{bytes.NewReader(sent.bytes)}, sent.arguments
	}
	if isModernRequest(r, sent) {
		h.serveModern(w, r, x)
		return
	}
	if id := r.Header.Get(headerSession); id != "" {
		h.serveInSession(w, r, x, id)
		return
	}
	if r.Method == http.MethodPost && !sent.opens {
		refuse(w, http.StatusBadRequest, codeInvalidRequest, `the header Mcp-Session-Id is missing; open a session by "initialize", or name the protocol version in Mcp-Protocol-Version`)
		return
	}
	if r.Method != http.MethodPost {
		h.legacy.ServeHTTP(w, r) // says what is wrong
		return
	}
	if refusal := h.sessions.reserve(x); refusal != nil {
		refusal.write(w)
		return
	}
	defer h.sessions.settle(x)
	h.legacy.ServeHTTP(w, r)
}

// isModernRequest tells the era: the header says it. Without one, a request that
// describes itself is of the new era too, and is told that the header is missing.
func isModernRequest(r *http.Request, sent post) bool {
	if version := r.Header.Get(headerVersion); version != "" {
		return version >= modernEra
	}
	return r.Header.Get(headerSession) == "" && bytes.Contains(sent.bytes, []byte(`"io.modelcontextprotocol/protocolVersion"`))
}

// serveModern serves a request that stands by itself.
func (h *HTTPServer) serveModern(w http.ResponseWriter, r *http.Request, x *exchange) {
	if !h.sessions.enterPrincipal(x.principal) {
		tooMany(w, "too many requests of this caller are open")
		return
	}
	defer h.sessions.leavePrincipal(x.principal)
	h.modern.ServeHTTP(w, r)
}

// serveInSession serves a request of a session.
func (h *HTTPServer) serveInSession(w http.ResponseWriter, r *http.Request, x *exchange, id string) {
	s := h.sessions.find(id, x.principal)
	if s == nil {
		// Whose it is, if there is one, is nobody else's business.
		refuse(w, http.StatusNotFound, codeSessionNotFound, "there is no such session; it may have expired. Open one by \"initialize\"")
		return
	}
	if !s.enter(h.limits.Requests) {
		tooMany(w, "too many requests of this session are open")
		return
	}
	defer s.leave()
	x.session = s
	switch r.Method {
	case http.MethodDelete:
		s.cancel(errSessionEnded) // else the SDK would wait for its calls
	case http.MethodGet:
		if !h.goOn(w, r, x, s) {
			return
		}
	}
	defer s.release(x)
	h.legacy.ServeHTTP(w, r)
}

// goOn prepares the stream that a GET wants: a new one, or the rest of one that
// broke. It reports false when it has answered.
func (h *HTTPServer) goOn(w http.ResponseWriter, r *http.Request, x *exchange, s *session) bool {
	last := r.Header.Get(headerLastEvent)
	if last == "" {
		s.carry(x, "")
		return true
	}
	stream, index, ok := parseEventID(last)
	if !ok {
		refuse(w, http.StatusBadRequest, codeInvalidRequest, "the header Last-Event-ID is the id of no event")
		return false
	}
	if _, err := h.sessions.events.after(s.id, stream, index); err != nil {
		refuse(w, http.StatusBadRequest, codeInvalidRequest, "what came after the event is not kept any more")
		return false
	}
	s.takeOver(r.Context(), stream)
	s.carry(x, stream)
	x.reply.open() // the SDK would say nothing until there is something to say
	return true
}

// parseEventID reads an event's id, which the SDK makes of stream and index.
func parseEventID(id string) (stream string, index int, ok bool) {
	stream, number, _ := strings.Cut(id, "_")
	index, err := strconv.Atoi(number)
	return stream, index, err == nil && index >= 0
}

// Close ends every session, call and stream, and waits until they have ended and
// are on record, or for half a second.
func (h *HTTPServer) Close() {
	h.closeOnce.Do(func() {
		h.unfollow()
		h.open.close()
		late := time.After(afterwards)
		ended := h.sessions.closeAll()
		h.door.tasks.End(afterwards) // those without a session, too
		if !h.open.wait(late) {
			return
		}
		for _, s := range ended {
			select {
			case <-s.done: // the SDK ends a session when its calls have ended
			case <-late:
				return
			}
		}
	})
}

// afterwards is how long cancelled calls have to say what became of them.
const afterwards = 500 * time.Millisecond

// Sessions is how many sessions are open.
func (h *HTTPServer) Sessions() int { return h.sessions.number() }
