package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxFrame is the longest message that is read, in bytes.
const maxFrame = 16 << 20

// A stdio transport carries one JSON-RPC message a line. The SDK's own ends the
// connection at the first malformed line and drops what is unanswered when the
// input ends; this one answers a malformed line with an error and goes on, and
// at the end of the input waits until every request has its answer.
type stdio struct {
	in    *bufio.Reader
	out   io.Writer
	ended <-chan struct{} // closed when the input has ended

	inputDone chan struct{}
	closed    chan struct{}
	closeOnce sync.Once
	incoming  chan jsonrpc.Message

	mu      sync.Mutex // guards what follows, and out
	pending map[jsonrpc.ID]int
	batches map[jsonrpc.ID]*batch
	idle    chan struct{} // closed when the input has ended and nothing is pending
	atEnd   bool
}

// A batch is several requests of one line, whose answers go out in one line.
type batch struct {
	open    int
	answers []json.RawMessage
}

func newStdio(in io.Reader, out io.Writer) *stdio {
	done := make(chan struct{})
	return &stdio{
		in: bufio.NewReaderSize(in, 64<<10), out: out, ended: done, inputDone: done,
		closed: make(chan struct{}), incoming: make(chan jsonrpc.Message),
		pending: make(map[jsonrpc.ID]int), batches: make(map[jsonrpc.ID]*batch), idle: make(chan struct{}),
	}
}

// Connect implements mcp.Transport. The transport is its own connection.
func (s *stdio) Connect(context.Context) (mcp.Connection, error) {
	go s.readLines()
	return s, nil
}

// SessionID implements mcp.Connection: stdio has no sessions.
func (*stdio) SessionID() string { return "" }

// Close implements mcp.Connection. A read of the input that never returns is
// left behind.
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
	b, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	response, ok := m.(*jsonrpc.Response)
	if !ok {
		return s.writeLine(b)
	}
	defer s.answered(response.ID)
	if group := s.batches[response.ID]; group != nil {
		delete(s.batches, response.ID)
		return s.writeBatch(group, b)
	}
	return s.writeLine(b)
}

func (s *stdio) writeBatch(group *batch, b []byte) error {
	group.answers = append(group.answers, b)
	if group.open--; group.open > 0 {
		return nil
	}
	all, err := json.Marshal(group.answers)
	if err != nil {
		return err
	}
	return s.writeLine(all)
}

// writeLine writes one line; s.mu is held.
func (s *stdio) writeLine(b []byte) error {
	_, err := s.out.Write(append(b, '\n'))
	return err
}

// answered counts a request as done; s.mu is held.
func (s *stdio) answered(id jsonrpc.ID) {
	if s.pending[id]--; s.pending[id] <= 0 {
		delete(s.pending, id)
	}
	s.checkIdle()
}

func (s *stdio) checkIdle() {
	if s.atEnd && len(s.pending) == 0 {
		select {
		case <-s.idle:
		default:
			close(s.idle)
		}
	}
}

// readLines reads until the input ends.
func (s *stdio) readLines() {
	for {
		line, err := s.readLine()
		if len(bytes.TrimSpace(line)) > 0 && !s.takeLine(line) {
			return
		}
		if errors.Is(err, errFrameTooLong) {
			s.refuse(jsonrpc.CodeInvalidRequest, err.Error())
			continue
		}
		if err != nil {
			break
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.atEnd = true
	close(s.inputDone)
	s.checkIdle()
}

var errFrameTooLong = errors.New("the message is longer than 16 MiB")

// readLine reads up to a line feed. What is longer than maxFrame is read to its
// end and thrown away.
func (s *stdio) readLine() ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := s.in.ReadSlice('\n')
		if len(line)+len(part) > maxFrame {
			tooLong, line = true, nil
		}
		if !tooLong {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if tooLong && err == nil {
			err = errFrameTooLong
		}
		return line, err
	}
}

// takeLine hands the messages of a line on, or answers what is wrong with it. It
// reports false when the connection is closed.
func (s *stdio) takeLine(line []byte) bool {
	if !utf8.Valid(line) {
		return s.refuse(jsonrpc.CodeParseError, "the message is not valid UTF-8")
	}
	if !json.Valid(line) {
		return s.refuse(jsonrpc.CodeParseError, "the message is not valid JSON")
	}
	if bytes.TrimLeft(line, " \t\r")[0] == '[' {
		return s.takeBatch(line)
	}
	m, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		return s.refuse(jsonrpc.CodeInvalidRequest, "the message is not a JSON-RPC 2.0 request: "+err.Error())
	}
	return s.take(m)
}

// takeBatch takes a line with several messages, which the protocol had until
// 2025-03-26.
func (s *stdio) takeBatch(line []byte) bool {
	var parts []json.RawMessage
	if err := json.Unmarshal(line, &parts); err != nil || len(parts) == 0 {
		return s.refuse(jsonrpc.CodeInvalidRequest, "the batch is empty")
	}
	var messages []jsonrpc.Message
	group := &batch{}
	for _, part := range parts {
		m, err := jsonrpc.DecodeMessage(part)
		if err != nil {
			return s.refuse(jsonrpc.CodeInvalidRequest, "the batch holds a message that is not JSON-RPC 2.0: "+err.Error())
		}
		messages = append(messages, m)
		if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
			group.open++
		}
	}
	s.mu.Lock()
	for _, m := range messages {
		if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
			s.batches[r.ID] = group
		}
	}
	s.mu.Unlock()
	for _, m := range messages {
		if !s.take(m) {
			return false
		}
	}
	return true
}

// take hands one message on.
func (s *stdio) take(m jsonrpc.Message) bool {
	if r, ok := m.(*jsonrpc.Request); ok {
		s.mu.Lock()
		s.count(r)
		s.mu.Unlock()
	}
	select {
	case s.incoming <- m:
		return true
	case <-s.closed:
		return false
	}
}

// count notes that a request waits for its answer; s.mu is held. A subscription
// is answered only when it ends, and a cancelled request perhaps never.
func (s *stdio) count(r *jsonrpc.Request) {
	switch {
	case r.IsCall() && r.Method != "subscriptions/listen":
		s.pending[r.ID]++
	case r.Method == "notifications/cancelled":
		var params struct {
			RequestID any `json:"requestId"`
		}
		if json.Unmarshal(r.Params, &params) != nil {
			return
		}
		if id, err := jsonrpc.MakeID(params.RequestID); err == nil {
			delete(s.pending, id)
		}
	}
}

// refuse answers a line that is no message. It has no id that could be trusted.
func (s *stdio) refuse(code int64, message string) bool {
	b, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": message},
	})
	if err != nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writeLine(b) == nil
}
