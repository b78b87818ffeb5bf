package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/gybob/aai-gateway/internal/doors/mcp/messages"
	"github.com/gybob/aai-gateway/internal/schema/jsonscan"
)

// maxMessageBytes limits the length of a message, in bytes.
const maxMessageBytes = 16 << 20

// A longMessageError is the error of a line that is longer than maxMessageBytes. The line is not kept.
type longMessageError struct{ scan *jsonscan.Scanner }

// Error implements error.
func (e *longMessageError) Error() string {
	return fmt.Sprintf("the message is longer than %d MiB; send less at once, or name a file where the tool takes one", maxMessageBytes>>20)
}

// readLine reads up to a line feed. For a line longer than maxMessageBytes it returns a
// longMessageError.
func (s *stdio) readLine() ([]byte, error) {
	var read [][]byte // earlier parts of a long line
	var long *longMessageError
	for length := 0; ; {
		part, err := s.in.ReadSlice('\n')
		if length += len(part); length > maxMessageBytes && long == nil {
			long = &longMessageError{new(jsonscan.Scanner)}
			for _, earlier := range read {
				_, _ = long.scan.Write(earlier)
			}
			read = nil
		}
		if long != nil {
			_, _ = long.scan.Write(part)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			if long == nil {
				read = append(read, bytes.Clone(part))
			}
			continue
		}
		if long != nil && err == nil {
			return nil, long
		}
		if long != nil {
			return nil, err
		}
		return slices.Concat(append(read, part)...), err
	}
}

// handleLine passes the messages of a line on, or answers with an error. It reports false if the
// connection is closed or cannot be written.
func (s *stdio) handleLine(line []byte) bool {
	if !utf8.Valid(line) {
		return s.refuse(jsonrpc.CodeParseError, "the message is not valid UTF-8")
	}
	if bytes.TrimLeft(line, " \t\r")[0] == '[' {
		return s.handleBatch(line)
	}
	m, err := messages.Decode(line)
	if messages.IsMalformed(err) {
		return s.refuse(jsonrpc.CodeParseError, "the message is not valid JSON")
	}
	if err != nil {
		return s.refuseScanned(jsonscan.Scan(line), "the message is not a JSON-RPC 2.0 request: "+err.Error())
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() && !s.expect(nil, r) {
		return s.refuse(jsonrpc.CodeInvalidRequest, errIDInUse)
	}
	return s.handle(m)
}

// refuseScanned answers an invalid message, unless it was meant as an answer itself, such as an error
// without an id: to answer that could go on forever.
func (s *stdio) refuseScanned(scan *jsonscan.Scanner, reason string) bool {
	return scan.IsAnswer() || s.refuseAs(s.recoverID(scan), jsonrpc.CodeInvalidRequest, reason)
}

// recoverID returns the id of an invalid request, so that its client does not wait forever. It
// returns nil without exactly one id, and for an id that cannot be kept exactly or that a
// pending request has.
func (s *stdio) recoverID(scan *jsonscan.Scanner) any {
	raw := scan.ID()
	if raw == nil {
		return nil
	}
	id, err := messages.DecodeID(raw)
	if err != nil || !id.IsValid() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, pending := s.pending[id]; pending {
		return nil
	}
	return id.Raw()
}

// handleBatch handles a line with several messages, which the protocol permits up to version
// 2025-03-26.
func (s *stdio) handleBatch(line []byte) bool {
	parts, err := messages.SplitBatch(line)
	if messages.IsMalformed(err) {
		return s.refuse(jsonrpc.CodeParseError, "the message is not valid JSON")
	}
	if err != nil {
		return s.refuse(jsonrpc.CodeInvalidRequest, err.Error())
	}
	read := make([]jsonrpc.Message, len(parts))
	var requests []*jsonrpc.Request
	for i, part := range parts {
		m, err := messages.Decode(part)
		if err != nil {
			return s.refuseBatch(parts, "the batch has a message that is not JSON-RPC 2.0: "+err.Error())
		}
		read[i] = m
		if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
			requests = append(requests, r)
		}
	}
	if !s.expect(&batch{}, requests...) {
		return s.refuseBatch(parts, errIDInUse)
	}
	for _, m := range read {
		if !s.handle(m) {
			return false
		}
	}
	return true
}

// refuseBatch answers each request of a batch that has a readable and unique id, or the whole batch
// once if there is none.
func (s *stdio) refuseBatch(parts []json.RawMessage, message string) bool {
	var ids []any
	for _, part := range parts {
		scan := jsonscan.Scan(part)
		if id := s.recoverID(scan); id != nil && !scan.IsAnswer() {
			ids = append(ids, id)
		}
	}
	answers := []json.RawMessage{}
	for i, id := range ids {
		if slices.Contains(ids[:i], id) || slices.Contains(ids[i+1:], id) {
			continue
		}
		b, err := refusalOf(id, jsonrpc.CodeInvalidRequest, message)
		if err != nil {
			return false
		}
		answers = append(answers, b)
	}
	if len(answers) == 0 {
		return s.refuse(jsonrpc.CodeInvalidRequest, message)
	}
	b, err := json.Marshal(answers)
	return err == nil && s.writeLine(b) == nil
}

// refuse answers a line that is no message and has no reliable id.
func (s *stdio) refuse(code int64, message string) bool { return s.refuseAs(nil, code, message) }

// refuseAs is refuse for a known id; nil means none.
func (s *stdio) refuseAs(id any, code int64, message string) bool {
	b, err := refusalOf(id, code, message)
	return err == nil && s.writeLine(b) == nil
}

func refusalOf(id any, code int64, message string) ([]byte, error) {
	return json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": message},
	})
}

// While a client does not read its answers, its further requests are not read: their answers would fill
// the memory. Requests that wait for the client's own answer do not stop the reading.
const (
	// maxUnanswered is the number of unanswered requests from which the reading waits while an answer
	// waits to be written.
	maxUnanswered = 256
	// maxUnwritten is the number of bytes of unwritten answers from which the reading waits.
	maxUnwritten = 8 << 20
)

// waitForClient waits until the client has read enough of its answers. It reports false if the
// connection is closed or cannot be written.
func (s *stdio) waitForClient() bool {
	for s.isBehind() {
		select {
		case <-s.wrote:
		case <-s.closed:
			return false
		case <-s.writeFailed:
			return false
		}
	}
	return true
}

// isBehind reports whether too many answers wait for the client to read them.
func (s *stdio) isBehind() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	unwritten := s.unwritten.Load()
	return unwritten > maxUnwritten || unwritten > 0 && s.open >= maxUnanswered
}

// addWritten subtracts the bytes of a written line from the unwritten ones, and wakes waitForClient.
func (s *stdio) addWritten(bytes int) {
	s.unwritten.Add(-int64(bytes))
	select {
	case s.wrote <- struct{}{}:
	default:
	}
}

// cancel notes that the client no longer waits for the answer to a request. Subscriptions end by a cancellation,
// which their answer confirms.
func (s *stdio) cancel(params json.RawMessage) {
	var of struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &of) != nil {
		return
	}
	id, err := messages.DecodeID(of.RequestID)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, known := s.pending[id]; known && !r.isSubscription {
		r.cancelled = true
		s.pending[id] = r
	}
}
