package devtools

import (
	"context"
	"encoding/json"
)

// Detached is the last event of a session: its target, or the connection, has ended.
const Detached = "detached"

// A Session sends requests to a target and receives its events. A target can have several sessions, each with its own
// enabled domains.
type Session struct {
	browser *Browser
	id      string
	onEvent func(method string, params json.RawMessage)
	done    chan struct{}
}

// Attach begins a session of a target. The connection's reading goroutine calls onEvent in order, so onEvent must not
// wait for answers.
func (b *Browser) Attach(ctx context.Context, target string, onEvent func(method string, params json.RawMessage)) (*Session, error) {
	var attached struct {
		Session string `json:"sessionId"`
	}
	if err := b.Request(ctx, "Target.attachToTarget", map[string]any{"targetId": target, "flatten": true}, &attached); err != nil {
		return nil, err
	}
	return b.Adopt(attached.Session, onEvent), nil
}

// Adopt returns the session with an ID that the browser has announced, as Attach does. An event handler may call it.
func (b *Browser) Adopt(id string, onEvent func(method string, params json.RawMessage)) *Session {
	s := &Session{browser: b, id: id, onEvent: onEvent, done: make(chan struct{})}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		go s.event(Detached, nil)
	} else {
		b.sessions[id] = s
	}
	return s
}

// event passes an event to the session's user.
func (s *Session) event(method string, params json.RawMessage) {
	if method == Detached {
		close(s.done)
	}
	s.onEvent(method, params)
}

// Done is closed when the session has ended.
func (s *Session) Done() <-chan struct{} { return s.done }

// Call sends a request to the target and decodes the result unless it is nil. Its errors before the request was sent are
// *aai.Error with NotDelivered.
func (s *Session) Call(ctx context.Context, method string, params, result any) error {
	return s.browser.conn.call(ctx, s.id, method, params, result)
}

// Request is Call with a time limit of its own.
func (s *Session) Request(ctx context.Context, method string, params, result any) error {
	return s.browser.conn.request(ctx, s.id, method, params, result)
}

// Close ends the session.
func (s *Session) Close(ctx context.Context) error {
	return s.browser.Request(ctx, "Target.detachFromTarget", map[string]any{"sessionId": s.id}, nil)
}
