package tasks

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Messages of a task's call to the client.

// A Connection is one client of a transport without sessions, such as stdio. Its tasks
// belong to it and end with it.
type Connection struct {
	layer  *Layer
	owner  string
	notify func(json.RawMessage)
}

type connectionKey struct{}

// Connect returns the connection of one client. The layer passes notifications about tasks to notify,
// each a JSON-RPC message, in order and from one goroutine at a time. notify must not block; nil means
// none.
func (l *Layer) Connect(notify func(json.RawMessage)) *Connection {
	return &Connection{layer: l, owner: fmt.Sprintf("connection %d", l.connections.Add(1)), notify: notify}
}

// Context returns the context in which a server must be connected so that the layer
// recognizes the requests of this connection.
func (c *Connection) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, connectionKey{}, c)
}

// End cancels the work of the connection's tasks, forgets them, and waits until the work
// has ended, at most for the given time.
func (c *Connection) End(most time.Duration) {
	c.layer.store.end(most, &c.owner)
}

func connectionOf(ctx context.Context) *Connection {
	c, _ := ctx.Value(connectionKey{}).(*Connection)
	return c
}

func notifierOf(ctx context.Context) func(json.RawMessage) {
	if c := connectionOf(ctx); c != nil {
		return c.notify
	}
	return nil
}

// ownerOf names the owner of tasks for the request of the context.
func (l *Layer) ownerOf(ctx context.Context, session *mcp.ServerSession) string {
	if c := connectionOf(ctx); c != nil {
		return c.owner
	}
	return "owner " + l.owner(ctx, session)
}

// endWithSession ends the tasks of a session when it ends.
func (l *Layer) endWithSession(ctx context.Context, session *mcp.ServerSession, owner string) {
	if connectionOf(ctx) != nil || session == nil || !l.store.watch(session) {
		return
	}
	go func() {
		_ = session.Wait() // the error does not matter
		l.store.unwatch(session)
		l.store.end(0, &owner)
	}()
}

// Send is the sending middleware of a server with tasks.
func (l *Layer) Send(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		t := taskOf(ctx)
		if t == nil || !l.store.isTask(t) {
			return next(ctx, method, req)
		}
		said := strings.HasPrefix(method, "notifications/")
		if t.form == extension {
			if method == "notifications/progress" || method == "notifications/message" {
				return nil, nil // the extension has none for tasks
			}
			return next(ctx, method, req)
		}
		relate(t, method, req.GetParams())
		if said || method == "ping" {
			if stream, _ := l.store.newestStream(t); stream != nil {
				ctx = mergedContext{ctx, stream}
			}
			return next(ctx, method, req)
		}
		return l.request(ctx, t, method, req, next)
	}
}

// relate adds the task to the _meta of a message.
func relate(t *task, method string, p mcp.Params) {
	switch method {
	case "elicitation/create", "sampling/createMessage", "roots/list", "notifications/progress", "notifications/message":
		if p != nil {
			p.SetMeta(relatedTo(t, p.GetMeta()))
		}
	}
}

// request sends a request of a task to its client. In a session of HTTP that is possible
// only while a request of the client is open: the client opens tasks/result when it sees
// that input is required. If the client closes that, the request is sent again.
func (l *Layer) request(ctx context.Context, t *task, method string, req mcp.Request, next mcp.MethodHandler) (mcp.Result, error) {
	l.store.addOpenRequests(t, +1)
	defer l.store.addOpenRequests(t, -1)
	session, ok := req.GetSession().(*mcp.ServerSession)
	if !ok || session.ID() == "" {
		return next(ctx, method, req)
	}
	for {
		stream, err := l.store.stream(ctx, t)
		if err != nil {
			return nil, err
		}
		way, cancel := context.WithCancel(mergedContext{ctx, stream})
		stop := context.AfterFunc(stream, cancel)
		result, err := next(way, method, req)
		lost := stream.Err() != nil && ctx.Err() == nil
		stop()
		cancel()
		if err == nil || !lost {
			return result, err
		}
	}
}

// isTask reports whether the call has become a task.
func (s *store) isTask(t *task) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return t.number != 0
}

// addOpenRequests changes the number of open requests to the client of a task.
func (s *store) addOpenRequests(t *task, more int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.openRequests += more
	switch {
	case t.openRequests == 1 && more > 0:
		t.set(inputRequired, "The call waits for an answer.")
	case t.openRequests == 0:
		t.set(working, "The call is running.")
	}
}

// attach lets the task send requests to its client over the client's request with the context stream,
// until detach.
func (s *store) attach(t *task, stream context.Context) (detach func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.streams = append(t.streams, stream)
	close(t.attached)
	t.attached = make(chan struct{})
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		t.streams = slices.DeleteFunc(t.streams, func(other context.Context) bool { return other == stream })
	}
}

// stream waits for an open request of the client that can carry a request of the task, and returns its
// context.
func (s *store) stream(ctx context.Context, t *task) (context.Context, error) {
	for {
		newest, attached := s.newestStream(t)
		if newest != nil {
			return newest, nil
		}
		select {
		case <-attached:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// newestStream returns the last attached stream that is not over, or nil and a channel that
// is closed when one is attached.
func (s *store) newestStream(t *task) (stream context.Context, attached <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stream := range slices.Backward(t.streams) {
		if stream.Err() == nil {
			return stream, nil
		}
	}
	return nil, t.attached
}

// watch registers a session and reports whether it was unknown, so that one goroutine waits
// for its end.
func (s *store) watch(session *mcp.ServerSession) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, watched := s.watched[session]; watched {
		return false
	}
	s.watched[session] = struct{}{}
	return true
}

func (s *store) unwatch(session *mcp.ServerSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.watched, session)
}
