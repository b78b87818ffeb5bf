package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxFrame is the longest message that is read, in bytes.
const maxFrame = 16 << 20

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
	m, err := decode(line)
	if err != nil {
		return isAnswer(line) || s.refuse(jsonrpc.CodeInvalidRequest, "the message is not a JSON-RPC 2.0 request: "+err.Error())
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() && !s.expect(nil, r) {
		return s.refuse(jsonrpc.CodeInvalidRequest, errIDInUse)
	}
	return s.take(m)
}

// decode reads one message. A number that the SDK cannot keep as it is would be
// answered under another id, so it is refused.
func decode(b []byte) (jsonrpc.Message, error) {
	m, err := jsonrpc.DecodeMessage(b)
	r, ok := m.(*jsonrpc.Request)
	if err != nil || !ok {
		return m, err
	}
	kept, ok := r.ID.Raw().(int64)
	if !ok {
		return m, nil
	}
	var sent struct{ ID json.Number }
	if err := json.Unmarshal(b, &sent); err != nil {
		return nil, err
	}
	if n, err := sent.ID.Int64(); err == nil && n == kept {
		return m, nil
	}
	if n, err := sent.ID.Float64(); err == nil && n == float64(kept) && kept > -maxExact && kept < maxExact {
		return m, nil // such as 1.0
	}
	return nil, fmt.Errorf("the id %s is no whole number of at most 2^53; use a string", sent.ID)
}

// maxExact is the first whole number whose neighbour a double cannot hold.
const maxExact = 1 << 53

// isAnswer reports whether a line that could not be understood meant to answer
// something, such as an error without an id. Answering it could go on for ever.
func isAnswer(line []byte) bool {
	var parts map[string]json.RawMessage
	if json.Unmarshal(line, &parts) != nil || parts["method"] != nil {
		return false
	}
	return parts["error"] != nil || parts["result"] != nil
}

// takeBatch takes a line with several messages, which the protocol had until
// 2025-03-26.
func (s *stdio) takeBatch(line []byte) bool {
	var parts []json.RawMessage
	if err := json.Unmarshal(line, &parts); err != nil || len(parts) == 0 {
		return s.refuse(jsonrpc.CodeInvalidRequest, "the batch is empty")
	}
	messages := make([]jsonrpc.Message, len(parts))
	var requests []*jsonrpc.Request
	for i, part := range parts {
		m, err := decode(part)
		if err != nil {
			return s.refuse(jsonrpc.CodeInvalidRequest, "the batch holds a message that is not JSON-RPC 2.0: "+err.Error())
		}
		messages[i] = m
		if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
			requests = append(requests, r)
		}
	}
	if !s.expect(&batch{}, requests...) {
		return s.refuse(jsonrpc.CodeInvalidRequest, errIDInUse)
	}
	for _, m := range messages {
		if !s.take(m) {
			return false
		}
	}
	return true
}

// refuse answers a line that is no message. It has no id that could be trusted.
func (s *stdio) refuse(code int64, message string) bool {
	b, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": message},
	})
	return err == nil && s.writeLine(b) == nil
}
