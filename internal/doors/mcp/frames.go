package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/gybob/aai-gateway/internal/doors/mcp/messages"
)

// maxMessageBytes limits the length of a message, in bytes.
const maxMessageBytes = 16 << 20

var errMessageTooLong = errors.New("the message is longer than 16 MiB")

// readLine reads up to a line feed. For a line longer than maxMessageBytes it returns
// errMessageTooLong.
func (s *stdio) readLine() ([]byte, error) {
	var read [][]byte // earlier parts of a long line
	length, tooLong := 0, false
	for {
		part, err := s.in.ReadSlice('\n')
		if length += len(part); length > maxMessageBytes {
			tooLong, read = true, nil
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			if !tooLong {
				read = append(read, bytes.Clone(part))
			}
			continue
		}
		if tooLong {
			if err == nil {
				err = errMessageTooLong
			}
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
		return isAnswer(line) || s.refuseAs(s.recoverID(line), jsonrpc.CodeInvalidRequest, "the message is not a JSON-RPC 2.0 request: "+err.Error())
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() && !s.expect(nil, r) {
		return s.refuse(jsonrpc.CodeInvalidRequest, errIDInUse)
	}
	return s.handle(m)
}

// isAnswer reports whether an invalid line was meant as an answer, such as an error without
// an id. To answer it could go on forever.
func isAnswer(line []byte) bool {
	var parts map[string]json.RawMessage
	if json.Unmarshal(line, &parts) != nil || parts["method"] != nil {
		return false
	}
	return parts["error"] != nil || parts["result"] != nil
}

// recoverID returns the id of an invalid request, so that its client does not wait forever. It
// returns nil without exactly one id, and for an id that cannot be kept exactly or that a
// pending request has.
func (s *stdio) recoverID(line []byte) any {
	var raw json.RawMessage
	times := 0
	if messages.EachMember(line, func(name string, begin, end int) {
		if name == "id" {
			raw, times = line[begin:end:end], times+1
		}
	}) != nil || times != 1 {
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
	var parts []json.RawMessage
	err := json.Unmarshal(line, &parts)
	if messages.IsMalformed(err) {
		return s.refuse(jsonrpc.CodeParseError, "the message is not valid JSON")
	}
	if err != nil || len(parts) == 0 {
		return s.refuse(jsonrpc.CodeInvalidRequest, "the batch is empty")
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
		if id := s.recoverID(part); id != nil && !isAnswer(part) {
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
