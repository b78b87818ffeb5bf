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
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway/internal/doors/mcp/messages"
	"github.com/gybob/aai-gateway/internal/doors/mcp/tasks"
)

// A stdio transport carries one JSON-RPC message per line. The SDK's own transport ends the
// connection at the first malformed line and drops unanswered requests when the input ends.
// This one answers a malformed line with an error and continues. At the end of the input it
// waits until every request has its answer.
type stdio struct {
	in       *bufio.Reader
	incoming chan jsonrpc.Message

	closed    chan struct{}
	closeOnce sync.Once

	// writing guards out. It is separate from mu: a client that does not read its answers
	// must not block the reading of its requests.
	writing     sync.Mutex
	out         io.Writer
	writeFailed chan struct{} // closed when a write has failed
	cause       error         // the error of that write; read it after writeFailed
	unwritten   atomic.Int64  // bytes of the lines that wait for out
	wrote       chan struct{} // has a value after a line was written

	mu            sync.Mutex // guards the following fields
	pending       map[jsonrpc.ID]request
	open          int                     // requests without a written answer
	openRequests  map[jsonrpc.ID]struct{} // requests to the client without an answer
	atEnd         bool
	inputEnd      chan struct{} // closed when the input has ended
	idle          chan struct{} // closed when the input has ended and nothing is open
	notifications notificationQueue
}

// A request is a client's request that has no answer yet.
type request struct {
	batch *batch // the batch it came in, if any
	// isSubscription requests are answered only when they end. The end of the input waits
	// for their acknowledgement instead.
	isSubscription, acknowledged bool
	// makesTask requests are answered with a task. Notifications about tasks wait for that
	// answer.
	makesTask bool
	// cancelled requests get no answer: the client no longer waits for it.
	cancelled bool
}

// A batch is several requests of one line. Their answers are written in one line.
type batch struct {
	open      int
	responses []json.RawMessage
}

func newStdio(in io.Reader, out io.Writer) *stdio {
	return &stdio{
		in: bufio.NewReaderSize(in, 64<<10), out: out,
		incoming: make(chan jsonrpc.Message), closed: make(chan struct{}), idle: make(chan struct{}), writeFailed: make(chan struct{}), wrote: make(chan struct{}, 1),
		inputEnd: make(chan struct{}), pending: make(map[jsonrpc.ID]request), openRequests: make(map[jsonrpc.ID]struct{}),
	}
}

// Connect implements mcp.Transport. The transport is its own connection.
func (s *stdio) Connect(context.Context) (mcp.Connection, error) {
	go s.readLines()
	return s, nil
}

// SessionID implements mcp.Connection: stdio has no sessions.
func (*stdio) SessionID() string { return "" }

// Close implements mcp.Connection. Running calls are cancelled; a read of the input that
// never returns is abandoned.
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

// acknowledgement is the notification that a subscription has begun.
const acknowledgement = "notifications/subscriptions/acknowledged"

// acknowledged notes that the acknowledgement of a subscription was sent: the end of the
// input no longer waits for it.
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

// answer writes an answer, or holds it until its batch is complete. It drops the answer to a cancelled request.
func (s *stdio) answer(id jsonrpc.ID, b []byte) error {
	s.mu.Lock()
	r, known := s.pending[id]
	delete(s.pending, id) // the client may use it again once it has read the answer
	if r.cancelled {
		b = nil
	}
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
		s.addWritten(0)
	}
	return err
}

// add adds an answer, or nil for none; after the last one it returns the line with all of them.
func (b *batch) add(answer []byte) ([]byte, error) {
	if answer != nil {
		b.responses = append(b.responses, answer)
	}
	if b.open--; b.open > 0 || len(b.responses) == 0 {
		return nil, nil
	}
	return json.Marshal(b.responses)
}

func (s *stdio) writeLine(b []byte) error {
	s.unwritten.Add(int64(len(b)))
	defer s.addWritten(len(b))
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

// addOpenRequest registers a request to the client. It reports false if the client can no
// longer answer.
func (s *stdio) addOpenRequest(id jsonrpc.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.atEnd {
		s.openRequests[id] = struct{}{}
	}
	return !s.atEnd
}

// closedResponse replaces the answer of a client that has closed its end.
func closedResponse(id jsonrpc.ID) *jsonrpc.Response {
	return &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{
		Code: jsonrpc.CodeInternalError, Message: "the client has closed its end and can answer nothing",
	}}
}

// checkIdle closes idle when the input has ended and no request is open. The caller holds s.mu.
func (s *stdio) checkIdle() {
	if s.atEnd && s.open == 0 {
		select {
		case <-s.idle:
		default:
			close(s.idle)
		}
	}
}

// readLines reads until the input ends, the connection is closed, or an answer cannot be written.
func (s *stdio) readLines() {
	defer s.end()
	for s.waitForClient() {
		line, err := s.readLine()
		if len(bytes.TrimSpace(line)) > 0 && !s.handleLine(line) {
			return
		}
		if long, ok := errors.AsType[*longMessageError](err); ok {
			if !s.refuseScanned(long.scan, long.Error()) {
				return
			}
			continue
		}
		if err != nil {
			return
		}
	}
}

// end notes that the input has ended, and answers the open requests to the client with an
// error, after every answer that it did send.
func (s *stdio) end() {
	s.mu.Lock()
	s.atEnd = true
	close(s.inputEnd)
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

// errIDInUse is the door's own answer: the SDK leaves such a request without one.
const errIDInUse = "the id belongs to another request, which is not answered yet"

// expect registers requests that wait for their answers. It reports false, and registers
// none, if the id of one of them is in use.
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

// handle passes one message to the SDK. It reports false if the connection is closed.
func (s *stdio) handle(m jsonrpc.Message) bool {
	switch m := m.(type) {
	case *jsonrpc.Response:
		s.mu.Lock()
		delete(s.openRequests, m.ID)
		s.mu.Unlock()
	case *jsonrpc.Request:
		if m.Method == "notifications/cancelled" {
			s.cancel(m.Params)
		}
	}
	select {
	case s.incoming <- m:
		return true
	case <-s.closed:
		return false
	}
}

// maxNotifications limits the notifications that wait for a client that does not read. Lost
// ones do no harm: the client can poll.
const maxNotifications = 1000

// notificationQueue holds notifications about tasks, which the SDK cannot send. They are
// sent in order, and none is sent between the creation of a task and the answer that names
// it.
type notificationQueue struct {
	waiting      []json.RawMessage
	pendingTasks int  // requests that will be answered with a task
	writing      bool // a goroutine is writing
}

// notify queues a notification. It does not block.
func (s *stdio) notify(message json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.notifications.waiting) == maxNotifications {
		s.notifications.waiting = s.notifications.waiting[1:]
	}
	s.notifications.waiting = append(s.notifications.waiting, message)
	s.flushNotifications()
}

// flushNotifications starts the writer if necessary. The caller holds s.mu.
func (s *stdio) flushNotifications() {
	if s.notifications.writing || len(s.notifications.waiting) == 0 {
		return
	}
	s.notifications.writing = true
	go s.writeNotifications()
}

func (s *stdio) writeNotifications() {
	for {
		s.mu.Lock()
		if s.notifications.pendingTasks > 0 || len(s.notifications.waiting) == 0 {
			s.notifications.writing = false
			s.mu.Unlock()
			return
		}
		message := s.notifications.waiting[0]
		s.notifications.waiting = s.notifications.waiting[1:]
		s.mu.Unlock()
		if s.writeLine(message) != nil {
			return // the client reads no more; writing stays set
		}
	}
}
