package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"aai"
	"aai/internal/doors/mcp/tasks"
)

// maxFrame is the longest message that is read, in bytes.
const maxFrame = 16 << 20

var errFrameTooLong = errors.New("the message is longer than 16 MiB")

// readLine reads up to a line feed. What is longer than maxFrame is read to its
// end and thrown away.
func (s *stdio) readLine() ([]byte, error) {
	var read [][]byte // what came before, when the line is a long one
	length, tooLong := 0, false
	for {
		part, err := s.in.ReadSlice('\n')
		if length += len(part); length > maxFrame {
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
				err = errFrameTooLong
			}
			return nil, err
		}
		return slices.Concat(append(read, part)...), err
	}
}

// takeLine hands the messages of a line on, or answers what is wrong with it. It
// reports false when the connection is closed.
func (s *stdio) takeLine(line []byte) bool {
	if !utf8.Valid(line) {
		return s.refuse(jsonrpc.CodeParseError, "the message is not valid UTF-8")
	}
	if bytes.TrimLeft(line, " \t\r")[0] == '[' {
		return s.takeBatch(line)
	}
	m, err := decode(line)
	if isMalformed(err) {
		return s.refuse(jsonrpc.CodeParseError, "the message is not valid JSON")
	}
	if err != nil {
		return isAnswer(line) || s.refuseAs(s.certainID(line), jsonrpc.CodeInvalidRequest, "the message is not a JSON-RPC 2.0 request: "+err.Error())
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() && !s.expect(nil, r) {
		return s.refuse(jsonrpc.CodeInvalidRequest, errIDInUse)
	}
	return s.take(m)
}

// decode reads one message. The SDK's own decoder parses each message several
// times; requests, which are nearly all of them, are read in one go here.
func decode(b []byte) (jsonrpc.Message, error) {
	if nestedDeeper(b, maxNesting) {
		return nil, fmt.Errorf("it is nested more than %d deep", maxNesting)
	}
	parts, err := partsOf(b)
	if err != nil {
		return nil, err
	}
	if parts.method == nil {
		return jsonrpc.DecodeMessage(b)
	}
	if string(parts.version) != `"2.0"` {
		return nil, errors.New(`expected "jsonrpc": "2.0"`)
	}
	r := &jsonrpc.Request{}
	if err := json.Unmarshal(parts.method, &r.Method); err != nil {
		return nil, errors.New("the method is no string")
	}
	params, arguments, err := lift(r.Method, parts.params)
	if err != nil {
		return nil, err
	}
	r.Params, r.Extra = tasks.Park(r.Method, params), carrying(arguments)
	id, err := decodeID(parts.id)
	r.ID = id
	return r, err
}

// parts are the members of a request, as they are in its message.
type parts struct{ version, id, method, params json.RawMessage }

// partsOf reads a message as far as it is a request's.
func partsOf(b []byte) (p parts, err error) {
	if eachMember(b, func(name string, begin, end int) {
		value := json.RawMessage(b[begin:end:end])
		switch name {
		case "jsonrpc":
			p.version = value
		case "id":
			p.id = value
		case "method":
			p.method = value
		case "params":
			p.params = value
		}
	}) == nil {
		return p, nil
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil { // says what is wrong
		return parts{}, err
	}
	return parts{all["jsonrpc"], all["id"], all["method"], all["params"]}, nil
}

// maxNesting is how deep a message may be nested; the SDK would stop at 1,000,
// and repeat the whole of it in its error.
const maxNesting = 900

// nestedDeeper reports whether brackets outside of strings are open deeper than
// limit. What it says of text that is no JSON does not matter.
func nestedDeeper(b []byte, limit int) bool {
	depth, inString := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > limit {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// decodeID reads a request's id. A number that the SDK cannot keep as it is would
// be answered under another id, so it is refused.
func decodeID(raw json.RawMessage) (jsonrpc.ID, error) {
	if raw == nil || string(raw) == "null" {
		return jsonrpc.ID{}, nil
	}
	var sent any
	if err := json.Unmarshal(raw, &sent); err != nil {
		return jsonrpc.ID{}, err
	}
	if n, ok := sent.(float64); ok && !isExact(raw, n) {
		return jsonrpc.ID{}, fmt.Errorf("the id %s is no whole number of at most 2^53; use a string", aai.CleanLabel(string(raw), 40))
	}
	return jsonrpc.MakeID(sent)
}

// isExact reports whether n is the whole number that was sent.
func isExact(raw json.RawMessage, n float64) bool {
	if sent, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n < math.MaxInt64 && int64(n) == sent
	}
	return n == math.Trunc(n) && math.Abs(n) < maxExact // such as 1.0
}

// isMalformed reports whether the text was no JSON at all.
func isMalformed(err error) bool {
	_, ok := errors.AsType[*json.SyntaxError](err)
	return ok
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

// certainID is the id of a request that could not be understood, so that its client
// does not wait for ever: nil if it has none, more than one, one that is kept under
// another value, or that of a request that still waits for its own answer.
func (s *stdio) certainID(line []byte) any {
	var raw json.RawMessage
	times := 0
	if eachMember(line, func(name string, begin, end int) {
		if name == "id" {
			raw, times = line[begin:end:end], times+1
		}
	}) != nil || times != 1 {
		return nil
	}
	id, err := decodeID(raw)
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

// takeBatch takes a line with several messages, which the protocol had until
// 2025-03-26.
func (s *stdio) takeBatch(line []byte) bool {
	var parts []json.RawMessage
	err := json.Unmarshal(line, &parts)
	if isMalformed(err) {
		return s.refuse(jsonrpc.CodeParseError, "the message is not valid JSON")
	}
	if err != nil || len(parts) == 0 {
		return s.refuse(jsonrpc.CodeInvalidRequest, "the batch is empty")
	}
	messages := make([]jsonrpc.Message, len(parts))
	var requests []*jsonrpc.Request
	for i, part := range parts {
		m, err := decode(part)
		if err != nil {
			return s.refuseBatch(parts, "the batch holds a message that is not JSON-RPC 2.0: "+err.Error())
		}
		messages[i] = m
		if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
			requests = append(requests, r)
		}
	}
	if !s.expect(&batch{}, requests...) {
		return s.refuseBatch(parts, errIDInUse)
	}
	for _, m := range messages {
		if !s.take(m) {
			return false
		}
	}
	return true
}

// refuseBatch answers each request of a batch whose id is certain, and of which there is
// one; where there is none, the batch.
func (s *stdio) refuseBatch(parts []json.RawMessage, message string) bool {
	var ids []any
	for _, part := range parts {
		if id := s.certainID(part); id != nil && !isAnswer(part) {
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

// refuse answers a line that is no message, and has no id that could be trusted.
func (s *stdio) refuse(code int64, message string) bool { return s.refuseAs(nil, code, message) }

// refuseAs is refuse where the id is known; nil is none.
func (s *stdio) refuseAs(id any, code int64, message string) bool {
	b, err := refusalOf(id, code, message)
	return err == nil && s.writeLine(b) == nil
}

func refusalOf(id any, code int64, message string) ([]byte, error) {
	return json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": message},
	})
}
