package streamable

import (
	"context"
	"errors"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway/internal/doors/httpdoor"
)

var (
	errSessionEnded = errors.New("the session has ended")
	errNotReserved  = errors.New("no session may be opened here")
)

// sessions holds the sessions with their principals. It is the SDK's event store: the SDK calls it when
// sessions open and close.
type sessions struct {
	limits Limits
	events *eventLog

	mu          sync.Mutex
	byID        map[string]*session
	byPrincipal map[string]int // sessions by principal, including reserved ones
	all         int
	peak        int            // the most sessions since memory was returned
	stateless   map[string]int // requests without sessions by principal
}

func newSessions(limits Limits) *sessions {
	return &sessions{
		limits: limits, events: newEventLog(limits.StoredBytes, limits.StoredBytesPerSession),
		byID: make(map[string]*session), byPrincipal: make(map[string]int), stateless: make(map[string]int),
	}
}

// A session is one conversation. It ends when its client ends it, when it was idle for too
// long, or with the server.
type session struct {
	id, principal string
	limits        Limits
	server        atomic.Pointer[mcp.ServerSession] // set by its first request
	ctx           context.Context                   // of its calls
	cancel        context.CancelCauseFunc
	done          chan struct{} // closed when it and its calls have ended

	mu       sync.Mutex
	users    int // requests, running calls and tasks
	calls    int // running ones
	requests int // open ones
	ended    bool
	timer    *time.Timer          // runs while it is idle
	streams  map[string]*Exchange // the exchanges whose HTTP responses carry the session's streams, by stream name
}

// reserve reserves a session for the exchange, which is about to open it, or returns a refusal if there
// are too many.
func (ss *sessions) reserve(x *Exchange) *httpdoor.Refusal {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	switch {
	case ss.byPrincipal[x.Principal] >= ss.limits.SessionsPerCaller:
		return &httpdoor.Refusal{
			Status: http.StatusTooManyRequests, RetryAfter: time.Minute,
			Message: "too many sessions of this caller are open; end one by DELETE, or wait until one expires",
		}
	case ss.all >= ss.limits.AllSessions:
		return &httpdoor.Refusal{
			Status: http.StatusServiceUnavailable, RetryAfter: time.Minute,
			Message: "too many sessions are open; wait until one expires",
		}
	}
	ss.count(x.Principal, 1)
	return nil
}

// releaseReservation releases the reservation if no session was opened, and else ends the request that
// opened it.
func (ss *sessions) releaseReservation(x *Exchange) {
	ss.mu.Lock()
	s := x.session
	if s == nil {
		ss.count(x.Principal, -1)
	}
	ss.mu.Unlock()
	if s != nil {
		s.removeStream(x)
		s.finish(&s.requests)
	}
}

// gcSessionThreshold is the least number of sessions for which count returns memory.
const gcSessionThreshold = 64

// count changes the number of sessions by n. When most of many sessions have ended, it
// returns their memory to the system: an idle process has no reason to collect. The caller
// holds ss.mu.
func (ss *sessions) count(principal string, n int) {
	ss.all += n
	ss.peak = max(ss.peak, ss.all)
	if ss.peak >= gcSessionThreshold && ss.all <= ss.peak/4 {
		ss.peak = ss.all
		time.AfterFunc(time.Second, debug.FreeOSMemory)
	}
	if ss.byPrincipal[principal] += n; ss.byPrincipal[principal] == 0 {
		delete(ss.byPrincipal, principal)
	}
}

// acquireStateless counts a request without a session. It reports false if the principal has too many.
func (ss *sessions) acquireStateless(principal string) bool {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.stateless[principal] >= ss.limits.StatelessPerCaller {
		return false
	}
	ss.stateless[principal]++
	return true
}

func (ss *sessions) releaseStateless(principal string) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.stateless[principal]--; ss.stateless[principal] == 0 {
		delete(ss.stateless, principal)
	}
}

// find returns the session, if it belongs to the principal.
func (ss *sessions) find(id, principal string) *session {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if s := ss.byID[id]; s != nil && s.principal == principal {
		return s
	}
	return nil
}

// Open implements mcp.EventStore. The stream without a name is a session's first.
func (ss *sessions) Open(ctx context.Context, sessionID, streamID string) error {
	x := FromContext(ctx)
	if x == nil {
		return errNotReserved
	}
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if streamID == "" {
		s := &session{
			id: sessionID, principal: x.Principal, limits: ss.limits, users: 1, requests: 1,
			done: make(chan struct{}), streams: make(map[string]*Exchange),
		}
		s.ctx, s.cancel = context.WithCancelCause(context.Background())
		ss.byID[sessionID], x.session = s, s
	} else if ss.byID[sessionID] == nil {
		return errSessionEnded // by another request
	}
	ss.events.open(sessionID, streamID)
	if streamID != "" {
		x.session.addStream(x, streamID)
	}
	return nil
}

// Append implements mcp.EventStore.
func (ss *sessions) Append(_ context.Context, sessionID, streamID string, data []byte) error {
	return ss.events.append(sessionID, streamID, data)
}

// SessionClosed implements mcp.EventStore.
func (ss *sessions) SessionClosed(_ context.Context, sessionID string) error {
	ss.mu.Lock()
	s := ss.byID[sessionID]
	delete(ss.byID, sessionID)
	ss.events.forget(sessionID)
	if s != nil {
		ss.count(s.principal, -1)
	}
	ss.mu.Unlock()
	if s != nil {
		s.end()
	}
	return nil
}

// closeAll ends every session, and returns them.
func (ss *sessions) closeAll() []*session {
	ss.mu.Lock()
	all := make([]*session, 0, len(ss.byID))
	for _, s := range ss.byID {
		all = append(all, s)
	}
	ss.mu.Unlock()
	for _, s := range all {
		s.close()
	}
	return all
}

// begin counts a request or a running call, unless there are too many: calls continue after their
// requests have ended. The session does not expire until finish.
func (s *session) begin(count *int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if *count >= s.limits.RequestsPerSession {
		return false
	}
	*count++
	s.pauseExpiry()
	return true
}

// finish reverts begin.
func (s *session) finish(count *int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*count--
	s.resumeExpiry()
}

// pauseExpiry keeps the session from expiring. The caller holds s.mu.
func (s *session) pauseExpiry() {
	s.users++
	if s.timer != nil {
		s.timer.Stop()
	}
}

// resumeExpiry reverts pauseExpiry. The caller holds s.mu.
func (s *session) resumeExpiry() {
	if s.users--; s.users > 0 || s.ended {
		return
	}
	if s.timer == nil {
		s.timer = time.AfterFunc(s.limits.SessionIdle, s.expire)
		return
	}
	s.timer.Reset(s.limits.SessionIdle)
}

func (s *session) expire() {
	s.mu.Lock()
	idle := s.users == 0
	s.mu.Unlock()
	if idle {
		s.close()
	}
}

// close ends the session and its calls. It does not wait for them.
func (s *session) close() {
	s.cancel(errSessionEnded)
	if server := s.server.Load(); server != nil {
		go server.Close() //nolint:errcheck // the session is over either way
	}
}

// end runs when the SDK has ended the session.
func (s *session) end() {
	s.cancel(errSessionEnded)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	close(s.done)
	if s.timer != nil {
		s.timer.Stop()
	}
}

// addStream registers the exchange as carrier of the stream.
func (s *session) addStream(x *Exchange, stream string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x.stream = stream
	s.streams[stream] = x
}

// removeStream removes the exchange as carrier of its stream.
func (s *session) removeStream(x *Exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams[x.stream] == x {
		delete(s.streams, x.stream)
	}
}

// replaceStream aborts the answer that carries the stream: its client has reconnected, so
// the old connection is dead, even if no write has failed yet.
func (s *session) replaceStream(ctx context.Context, stream string) {
	s.mu.Lock()
	old := s.streams[stream]
	s.mu.Unlock()
	if old == nil {
		return
	}
	old.abort()
	select {
	case <-old.Done():
	case <-ctx.Done():
	}
}

func (ss *sessions) size() int {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	return ss.all
}
