// Package messages reads and writes the JSON-RPC messages of MCP for the transports, before the SDK
// reads them and after it wrote them. It parses in one pass and within limits, lets large arguments
// bypass the SDK, and hides the SDK's internals. It is independent of the transport.
package messages

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/mcp/tasks"
	"github.com/gybob/aai-gateway/internal/schema/jsonscan"
)

// Decode parses one message. The SDK's own decoder parses each message several times;
// Decode parses requests, which are nearly all messages, in one pass.
func Decode(b []byte) (jsonrpc.Message, error) {
	if isNestedDeeper(b, maxNesting) {
		return nil, fmt.Errorf("it is nested more than %d deep", maxNesting)
	}
	parts, err := parseParts(b)
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
	params, arguments, err := extractArguments(r.Method, parts.params)
	if err != nil {
		return nil, err
	}
	r.Params, r.Extra = tasks.StashParams(r.Method, params), extraOf(arguments)
	id, err := DecodeID(parts.id)
	r.ID = id
	return r, err
}

// requestParts are the raw members of a request.
type requestParts struct{ version, id, method, params json.RawMessage }

// parseParts parses a message as a request.
func parseParts(b []byte) (p requestParts, err error) {
	if jsonscan.EachMember(b, func(name string, begin, end int) {
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
	if err := json.Unmarshal(b, &all); err != nil { // reports the error
		return requestParts{}, err
	}
	return requestParts{all["jsonrpc"], all["id"], all["method"], all["params"]}, nil
}

// maxNesting limits the nesting of a message; the SDK would stop at 1,000, and repeat the
// whole message in its error.
const maxNesting = 900

// isNestedDeeper reports whether more than limit brackets outside of strings are open. The
// result for text that is not JSON does not matter.
func isNestedDeeper(b []byte, limit int) bool {
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

// DecodeID parses a request's id; nil and null give the zero ID. It refuses numbers that the SDK cannot
// represent exactly, because the answer would have another id.
func DecodeID(raw json.RawMessage) (jsonrpc.ID, error) {
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

// IsMalformed reports whether err, from Decode or json.Unmarshal, means that the text was not JSON.
func IsMalformed(err error) bool {
	_, ok := errors.AsType[*json.SyntaxError](err)
	return ok
}

// maxExact is the first whole number without an exactly representable successor in a double.
const maxExact = 1 << 53

// maxBatch limits the messages in a batch of the older versions.
const maxBatch = 100

var errBatchSize = errors.New("the batch is empty, or has more than 100 messages")

// SplitBatch returns the messages of a batch. It refuses an empty batch, and one with more than maxBatch
// messages. For a text that is not JSON its error is one that IsMalformed recognizes.
func SplitBatch(b []byte) ([]json.RawMessage, error) {
	if err := json.Unmarshal(b, &json.RawMessage{}); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	var parts []json.RawMessage
	for d.More() {
		if len(parts) == maxBatch {
			return nil, errBatchSize
		}
		var part json.RawMessage
		if err := d.Decode(&part); err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return nil, errBatchSize
	}
	return parts, nil
}
