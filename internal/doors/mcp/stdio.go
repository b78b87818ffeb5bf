package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway/internal/doors/mcp/messages"
	"github.com/gybob/aai-gateway/internal/doors/mcp/tasks"
)

// A stdio transport carries one JSON-RPC message a line. The SDK's own ends the
// connection at the first malformed line and drops what is unanswered when the
// input ends; this one answers a malformed line with an error and goes on, and
// at the end of the input waits until every request has its answer.
type stdio struct {
	in       *bufio.Reader
	incoming chan jsonrpc.Message

	closed    chan struct{}
	closeOnce sync.Once

	// writing guards out. It is not mu: a client that does not read its answers
	// must not keep its requests from being read.
	writing     sync.Mutex
	out         io.Writer
	writeFailed chan struct{} // closed when it could not be written
	cause       error         // why; read after lost

	mu            sync.Mutex // guards what follows
	pending       map[jsonrpc.ID]request
	open          int                     // requests whose answers are not written yet
	openRequests  map[jsonrpc.ID]struct{} // what the client was asked and has not answered
	atEnd         bool
	idle          chan struct{} // closed when the input has ended and nothing is open
	notifications notificationQueue
}

// A request waits for its answer.
type request struct {
	batch *batch // the batch it came in, if any
	// isSubscription requests are answered only when they end, which nobody waits for; that
	// they have begun is acknowledged, which is waited for.
	isSubscription, acknowledged bool
	// makesTask is said of requests that are answered with a task, of which there
	// is no news before.
	makesTask bool
}

// A batch is several requests of one line, whose answers go out in one line.
type batch struct {
	open      int
	responses []json.RawMessage
}

func newStdio(in io.Reader, out io.Writer) *stdio {
	return &stdio{
		in: bufio.NewReaderSize(in, 64<<10), out: out,
		incoming: make(chan jsonrpc.Message), closed: make(chan struct{}), idle: make(chan struct{}), writeFailed: make(chan struct{}),
		pending: make(map[jsonrpc.ID]request), openRequests: make(map[jsonrpc.ID]struct{}),
	}
}

// Connect implements mcp.Transport. The transport is its own connection.
func (s *stdio) Connect(context.Context) (mcp.Connection, error) {
	go s.readLines()
	return s, nil
}

// SessionID implements mcp.Connection: stdio has no sessions.
func (*stdio) SessionID() string { return "" }

// Close implements mcp.Connection. Calls that are running are cancelled, and a
// read of the input that never returns is left behind.
func (s *stdio) Close() error {
	s.closeOnce.Do(func() { close(s.closed) })
	return nil
}

// Read implements mcp.Connection.
func (s *stdio) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-s.incoming:
		return m, nil
	case <-s.idle:
		return nil, io.EOF
	case <-s.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements mcp.Connection.
func (s *stdio) Write(ctx context.Context, m jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b, err := messages.Encode(messages.WithCode(m))
	if err != nil {
		return err
	}
	switch m := m.(type) {
	case *jsonrpc.Response:
		return s.answer(m.ID, b)
	case *jsonrpc.Request:
		if m.IsCall() && !s.addOpenRequest(m.ID) {
			go s.handle(closedResponse(m.ID))
			return nil
		}
		if m.Method == acknowledgement {
			defer s.acknowledged(m.Params)
		}
	}
	return s.writeLine(b)
}

// acknowledgement is what says that a subscription has begun.
const acknowledgement = "notifications/subscriptions/acknowledged"

// acknowledged notes that a client was told so: there is nothing more that the end
// of the input waits for.
func (s *stdio) acknowledged(params json.RawMessage) {
	var of struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	if json.Unmarshal(params, &of) != nil {
		return
	}
	id, err := messages.DecodeID(of.Meta[mcp.MetaKeySubscriptionID])
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, known := s.pending[id]; known && r.isSubscription && !r.acknowledged {
		r.acknowledged = true
		s.pending[id] = r
		s.open--
		s.checkIdle()
	}
}

// answer writes an answer, or keeps it until its batch is complete.
func (s *stdio) answer(id jsonrpc.ID, b []byte) error {
	s.mu.Lock()
	r, known := s.pending[id]
	delete(s.pending, id) // the client may use it again once it has read the answer
	line, err := b, error(nil)
	if r.batch != nil {
		line, err = r.batch.add(b)
	}
	s.mu.Unlock()
	if line != nil {
		err = s.writeLine(line)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.makesTask {
		s.notifications.pendingTasks--
		s.flushNotifications()
	}
	if known && !r.acknowledged {
		s.open--
		s.checkIdle()
	}
	return err
}

// add adds an answer and returns the line for all of them after the last one.
func (b *batch) add(answer []byte) ([]byte, error) {
	b.responses = append(b.responses, answer)
	if b.open--; b.open > 0 {
		return nil, nil
	}
	return json.Marshal(b.responses)
}

func (s *stdio) writeLine(b []byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.cause != nil {
		return s.cause
	}
	if _, err := s.out.Write(append(b, '\n')); err != nil {
		s.cause = fmt.Errorf("the client reads no answers any more: %w", err)
		close(s.writeFailed)
	}
	return s.cause
}

// addOpenRequest notes that the client is asked something. It reports false when the
// client can say nothing any more.
func (s *stdio) addOpenRequest(id jsonrpc.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.atEnd {
		s.openRequests[id] = struct{}{}
	}
	return !s.atEnd
}

// closedResponse stands in for the answer of a client that has closed its end.
func closedResponse(id jsonrpc.ID) *jsonrpc.Response {
	return &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{
		Code: jsonrpc.CodeInternalError, Message: "the client has closed its end and can answer nothing",
	}}
}

// checkIdle is called with s.mu held.
func (s *stdio) checkIdle() {
	if s.atEnd && s.open == 0 {
		select {
		case <-s.idle:
		default:
			close(s.idle)
		}
	}
}

// readLines reads until the input ends, or nobody takes or reads what comes of it.
func (s *stdio) readLines() {
	defer s.end()
	for {
		line, err := s.readLine()
		if len(bytes.TrimSpace(line)) > 0 && !s.handleLine(line) {
			return
		}
		if errors.Is(err, errMessageTooLong) {
			if !s.refuse(jsonrpc.CodeInvalidRequest, err.Error()) {
				return
			}
			continue
		}
		if err != nil {
			return
		}
	}
}

// end notes that the client sends nothing more, and ends the waiting for what it
// was asked: after every answer that it did give.
func (s *stdio) end() {
	s.mu.Lock()
	s.atEnd = true
	asked := s.openRequests
	s.openRequests = nil
	s.mu.Unlock()
	for id := range asked {
		s.handle(closedResponse(id))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checkIdle()
}

// errIDInUse is said for the SDK, which leaves such a request without an answer.
const errIDInUse = "the id belongs to another request, which is not answered yet"

// expect notes that the requests wait for their answers. It reports false, and
// notes nothing, if the id of one of them is taken.
func (s *stdio) expect(group *batch, requests ...*jsonrpc.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := make(map[jsonrpc.ID]struct{}, len(requests))
	for _, r := range requests {
		_, pending := s.pending[r.ID]
		_, twice := ids[r.ID]
		if pending || twice {
			return false
		}
		ids[r.ID] = struct{}{}
	}
	for _, r := range requests {
		waiting := request{batch: group, isSubscription: r.Method == "subscriptions/listen", makesTask: tasks.MakesTask(r.Method, r.Params)}
		if waiting.makesTask {
			s.notifications.pendingTasks++
		}
		if waiting.isSubscription {
			waiting.batch = nil // the others must not wait for it
		}
		s.open++
		if waiting.batch != nil {
			group.open++
		}
		s.pending[r.ID] = waiting
	}
	return true
}

// handle hands one message on.
func (s *stdio) handle(m jsonrpc.Message) bool {
	if r, ok := m.(*jsonrpc.Response); ok {
		s.mu.Lock()
		delete(s.openRequests, r.ID)
		s.mu.Unlock()
	}
	select {
	case s.incoming <- m:
		return true
	case <-s.closed:
		return false
	}
}
