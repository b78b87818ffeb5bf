// Package streamable serves the MCP door over HTTP: by the protocol's Streamable HTTP, with
// and without sessions, and by the transport of 2024-11-05 with server-sent events. Package
// httpdoor authenticates and limits requests, the SDK's handlers speak the protocol, and the
// door's MCP server answers the messages.
//
// This package checks and counts in front of the SDK's handlers. It keeps these promises, which
// they do not keep alone:
//
//   - Both eras on one address (server.go): one handler serves either sessions or the stateless
//     versions.
//   - A bad body opens no session (post.go): UTF-8, nesting, ids, batches and the missing session
//     are checked first. A refusal is a JSON-RPC error with a code and without the SDK's internals.
//   - Memory (exchange.go): large arguments bypass the SDK. Four calls of 8 MB at once take 90 MB
//     in all; through the SDK they take 210 MB in sessions and 340 MB without.
//   - A session is its principal's (sessions.go): another's session is unknown, where the SDK says
//     that the user differs. Sessions, requests and calls are limited. A session with an open
//     stream or a running call does not expire. DELETE and Close cancel its calls, where the SDK
//     waits for them.
//   - Resumption (events.go, server.go): events are limited for each session and in all. A session
//     of 200,000 requests takes 0.2 MB, and 35 MB in the SDK's store, which keeps every stream. A
//     resumed stream begins at once and replaces its half-open predecessor; the SDK answers 409.
//   - Slow and silent clients (reply.go): a client must accept a message in a limited time, and a
//     silent stream gets comments.
//   - The older transport (sse.go): a session is its principal's, and counts as one.
package streamable

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway/internal/doors/httpdoor"
	"github.com/gybob/aai-gateway/internal/doors/mcp/messages"
	"github.com/gybob/aai-gateway/internal/doors/mcp/tasks"
)

// The paths of the server.
const (
	mcpPath = "/mcp"
	ssePath = "/sse"
)

// The headers of the protocol.
const (
	headerVersion   = "Mcp-Protocol-Version"
	headerSession   = "Mcp-Session-Id"
	headerLastEvent = "Last-Event-Id"
)

// corsPolicy returns the rights that pages of allowed origins need for MCP.
func corsPolicy() httpdoor.CORSPolicy {
	return httpdoor.CORSPolicy{
		Methods:       "GET, POST, DELETE",
		AllowHeaders:  "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name",
		ExposeHeaders: "Mcp-Session-Id, WWW-Authenticate",
	}
}

// Config is the person's configuration of a Server.
type Config struct {
	HTTP httpdoor.Config
	// LegacySSE also serves the transport of protocol version 2024-11-05, on /sse.
	LegacySSE bool
	Limits    Limits
}

// A Backend connects a Server to the door.
type Backend struct {
	// Server answers messages; its receiving middleware must call Begin.
	Server *mcp.Server
	Log    *slog.Logger
	SDKLog *slog.Logger // the SDK's log
	// Shutdown ends work that outlives requests and sessions, and waits for it until late
	// ends. Close calls it once, after it has asked the sessions to end.
	Shutdown func(late context.Context)
}

// A Server serves MCP clients of every version over Streamable HTTP, on /mcp: up to
// 2025-11-25 in sessions, from 2026-07-28 on each request by itself. Close also ends its
// sessions.
//
// Without a session, a client that disconnects during a call ends the call, because the
// result cannot be delivered. In a session the call continues, as the protocol requires
// ("disconnection should not be interpreted as the client cancelling its request"). The
// client can fetch its result with Last-Event-ID until the session ends.
type Server struct {
	*httpdoor.Server
	backend Backend
	limits  Limits

	sessions  *sessions
	exchanges sync.Map     // running exchanges by ID
	legacy    http.Handler // versions with sessions
	modern    http.Handler // versions without
}

// New returns a server that passes messages to the MCP server of d. It fails if cfg is invalid.
func New(cfg Config, d Backend) (*Server, error) {
	h := &Server{backend: d, limits: cfg.Limits.withDefaults()}
	served, err := httpdoor.New(cfg.HTTP, httpdoor.Hooks{Log: d.Log, CORS: corsPolicy(), RefusalBody: refusalBody, Shutdown: h.end})
	if err != nil {
		return nil, err
	}
	h.Server, h.sessions = served, newSessions(h.limits)
	server := func(*http.Request) *mcp.Server { return d.Server }
	body := served.Limits().MaxBody
	h.legacy = mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
		EventStore: h.sessions, Logger: d.SDKLog,
		DisableLocalhostProtection: true, MaxRequestBodyBytes: body, // both are checked before
	})
	h.modern = mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true, Logger: d.SDKLog,
		DisableLocalhostProtection: true, MaxRequestBodyBytes: body,
	})
	h.Handle(mcpPath, h.withExchange(h.serveMCP))
	if cfg.LegacySSE {
		sse := mcp.NewSSEHandler(server, &mcp.SSEOptions{DisableLocalhostProtection: true, MaxRequestBodyBytes: body})
		h.Handle(ssePath, h.withExchange(h.serveSSE(sse)))
	}
	refuseOtherPaths(h.Server)
	return h, nil
}

func refuseOtherPaths(h *httpdoor.Server) {
	h.HandlePublic("/", func(w http.ResponseWriter, _ *http.Request) {
		h.Refuse(w, httpdoor.Refusal{Status: http.StatusNotFound, Message: "there is nothing here; MCP is served on " + mcpPath})
	})
}

// Texts of refusals.
const (
	noSessionID    = `the header Mcp-Session-Id is missing; open a session by "initialize", or name the protocol version in Mcp-Protocol-Version`
	unknownSession = `there is no such session; it may have expired. Open one by "initialize"`
)

// serveMCP serves the single address of the protocol.
func (h *Server) serveMCP(w http.ResponseWriter, r *http.Request, x *Exchange) {
	var body []byte
	var opens bool
	if r.Method == http.MethodPost {
		var end func()
		if body, opens, end = readPost(h.Server, w, r); end == nil {
			return
		}
		x.started = end
		defer end()
		body, x.arguments = messages.ExtractArguments(body)
		var wrongRoute any
		if body, wrongRoute = tasks.PrepareBody(r.Header, body); wrongRoute != nil {
			httpdoor.Refusal{Status: http.StatusBadRequest}.Write(w, wrongRoute)
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	if isModernRequest(r, body) {
		h.serveModern(w, r, x)
		return
	}
	if id := r.Header.Get(headerSession); id != "" {
		h.serveInSession(w, r, x, id)
		return
	}
	if r.Method == http.MethodPost && !opens {
		h.Refuse(w, badRequest(noSessionID))
		return
	}
	if r.Method != http.MethodPost {
		h.legacy.ServeHTTP(w, r) // reports the error
		return
	}
	if refused := h.sessions.reserve(x); refused != nil {
		h.Refuse(w, *refused)
		return
	}
	defer h.sessions.releaseReservation(x)
	h.legacy.ServeHTTP(w, r)
}

// isModernRequest reports whether a request is of a stateless version, by its version
// header. Without the header, a request with the version in its body also counts; its
// answer reports the missing header.
func isModernRequest(r *http.Request, body []byte) bool {
	if version := r.Header.Get(headerVersion); version != "" {
		return version >= tasks.StatelessVersion
	}
	return r.Header.Get(headerSession) == "" && bytes.Contains(body, []byte(`"io.modelcontextprotocol/protocolVersion"`))
}

// serveModern serves a request of a stateless version.
func (h *Server) serveModern(w http.ResponseWriter, r *http.Request, x *Exchange) {
	if !h.sessions.acquireStateless(x.Principal) {
		h.Refuse(w, httpdoor.TooManyRequests("too many requests of this caller are open"))
		return
	}
	defer h.sessions.releaseStateless(x.Principal)
	h.modern.ServeHTTP(w, r)
}

// serveInSession serves a request of a session.
func (h *Server) serveInSession(w http.ResponseWriter, r *http.Request, x *Exchange, id string) {
	s := h.sessions.find(id, x.Principal)
	if s == nil {
		h.Refuse(w, noSession(unknownSession))
		return
	}
	if !s.begin(&s.requests) {
		h.Refuse(w, httpdoor.TooManyRequests("too many requests of this session are open"))
		return
	}
	defer s.finish(&s.requests)
	x.session = s
	switch r.Method {
	case http.MethodDelete:
		s.cancel(errSessionEnded) // else the SDK would wait for its calls
	case http.MethodGet:
		if !h.prepareStream(w, r, x, s) {
			return
		}
	}
	defer s.removeStream(x)
	h.legacy.ServeHTTP(w, r)
}

// prepareStream prepares the stream of a GET: a new one, or the rest of a broken one. It
// reports false if it has refused the request.
func (h *Server) prepareStream(w http.ResponseWriter, r *http.Request, x *Exchange, s *session) bool {
	last := r.Header.Get(headerLastEvent)
	if last == "" {
		s.addStream(x, "")
		return true
	}
	stream, index, ok := parseEventID(last)
	if !ok {
		h.Refuse(w, badRequest("the header Last-Event-ID is the id of no event"))
		return false
	}
	if _, err := h.sessions.events.after(s.id, stream, index); err != nil {
		h.Refuse(w, badRequest("later events are not stored any more"))
		return false
	}
	s.replaceStream(r.Context(), stream)
	s.addStream(x, stream)
	x.response.openStream() // the SDK would write nothing before the next event
	return true
}

// parseEventID parses an event's id, which the SDK makes of stream and index.
func parseEventID(id string) (stream string, index int, ok bool) {
	stream, number, _ := strings.Cut(id, "_")
	index, err := strconv.Atoi(number)
	return stream, index, err == nil && index >= 0
}

// end ends every session and its calls, and the door's other work, and waits for them until
// late ends.
func (h *Server) end(late context.Context) {
	ended := h.sessions.closeAll()
	h.backend.Shutdown(late)
	for _, s := range ended {
		select {
		case <-s.done: // the SDK ends a session when its calls have ended
		case <-late.Done():
			return
		}
	}
}

// SessionCount returns the number of sessions that are open or being opened.
func (h *Server) SessionCount() int { return h.sessions.size() }

// Limits bound the resources of sessions and streams. A zero field means its default.
type Limits struct {
	KeepAlive         time.Duration // after which a silent stream gets a comment: 15 s
	SessionIdle       time.Duration // after which a session without requests ends: 30 min
	SessionsPerCaller int           // of one caller: 1,000
	// AllSessions limits the sessions of all callers together: 4,000
	AllSessions        int
	RequestsPerSession int // at once in a session: 128
	StatelessPerCaller int // at once of one caller without sessions: 1,024
	StoredBytes        int // bytes of events of all sessions, for resumption: 32 MiB
	// StoredBytesPerSession is the limit for one session: 8 MiB
	StoredBytesPerSession int
}

func (l Limits) withDefaults() Limits {
	return Limits{
		KeepAlive:             cmp.Or(l.KeepAlive, 15*time.Second),
		SessionIdle:           cmp.Or(l.SessionIdle, 30*time.Minute),
		SessionsPerCaller:     cmp.Or(l.SessionsPerCaller, 1000),
		AllSessions:           cmp.Or(l.AllSessions, 4000),
		RequestsPerSession:    cmp.Or(l.RequestsPerSession, 128),
		StatelessPerCaller:    cmp.Or(l.StatelessPerCaller, 1024),
		StoredBytes:           cmp.Or(l.StoredBytes, 32<<20),
		StoredBytesPerSession: cmp.Or(l.StoredBytesPerSession, 8<<20),
	}
}
