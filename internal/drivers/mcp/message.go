package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
	"github.com/gybob/aai-gateway/internal/schema/jsonscan"
)

// excessOf returns the limit that a message exceeds, or "".
func excessOf(s *jsonscan.Scanner) string {
	switch {
	case s.Values > maxValues:
		return fmt.Sprintf("more than %d values and names", maxValues)
	case s.Depth > maxDepth:
		return fmt.Sprintf("values nested more than %d deep", maxDepth)
	}
	return ""
}

// readMessage decodes a message. With a count, it returns an error as the response of a message that
// exceeds a limit; so the caller of that request does not wait until its deadline. A response that
// cannot be read becomes an error in the same way, with its beginning.
func (w *wire) readMessage(line []byte, excess *jsonscan.Scanner) (jsonrpc.Message, error) {
	if excess != nil {
		return refusedResponse(w.stderr.app, excess.ID(), excess.IsAnswer(), "with "+excessOf(excess))
	}
	if m := readResponse(line); m != nil {
		return m, nil
	}
	m, err := jsonrpc.DecodeMessage(line)
	if err == nil {
		return m, nil
	}
	scan := jsonscan.Scan(line)
	id, answers := scan.ID(), scan.IsAnswer()
	if id == nil && bytes.HasPrefix(line, []byte("{")) && bytes.Contains(line, []byte(`"jsonrpc"`)) {
		id, answers = w.onlyRequest(), true
	}
	sample := sanitize.Quote(w.stderr.secrets.Redact(string(line[:min(len(line), maxSample)])), maxSample)
	return refusedResponse(w.stderr.app, id, answers, "that cannot be read: "+sample)
}

// onlyRequest returns the id of the pending request if there is only one, or nil. A line that is not
// complete most probably answers it.
func (w *wire) onlyRequest() json.RawMessage {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.open) != 1 {
		return nil
	}
	for id := range w.open {
		b, err := json.Marshal(id.Raw())
		if err == nil {
			return b
		}
	}
	return nil
}

// refusedResponse returns an error as the response to a request, for a response of which only the id
// is known.
func refusedResponse(app string, sentID json.RawMessage, answers bool, reason string) (jsonrpc.Message, error) {
	var sent any
	if !answers || json.Unmarshal(sentID, &sent) != nil {
		return nil, errors.New("not a response with an id")
	}
	id, err := jsonrpc.MakeID(sent)
	if err != nil || !id.IsValid() {
		return nil, errors.New("not a response with an id")
	}
	e := aai.Errorf(aai.AutomationFailed, "the MCP server of %s sent an answer %s", app, reason)
	e.Hint, e.Delivery = "The server got the request. Ask it for less at a time.", aai.Delivered
	if strings.HasPrefix(reason, "that cannot") {
		e.Hint = "The server got the request, and may have acted. Its author can correct the form of its answers."
	}
	return &jsonrpc.Response{ID: id, Error: e}, nil
}

// readResponse decodes a response with a result without copying the result. It returns nil for every
// other message, which the SDK then decodes.
func readResponse(line []byte) *jsonrpc.Response {
	var version, id, result json.RawMessage
	others := false
	if jsonscan.EachMember(line, func(name string, begin, end int) {
		value := json.RawMessage(line[begin:end:end])
		switch name {
		case "jsonrpc":
			version = value
		case "id":
			id = value
		case "result":
			result = value
		default:
			others = true
		}
	}, jsontext.AllowInvalidUTF8(true)) != nil || others || string(version) != `"2.0"` || result == nil {
		return nil
	}
	var sent any
	if json.Unmarshal(id, &sent) != nil {
		return nil
	}
	known, err := jsonrpc.MakeID(sent)
	if err != nil || !known.IsValid() {
		return nil
	}
	return &jsonrpc.Response{ID: known, Result: result}
}

// splitStructured removes the structured content from a tool's result. The last one counts, as in
// every decoder.
func splitStructured(result json.RawMessage) (rest, structured json.RawMessage) {
	rest = make(json.RawMessage, 0, 64)
	at := 0
	if jsonscan.EachMember(result, func(name string, begin, end int) {
		if name == "structuredContent" {
			rest = append(append(rest, result[at:begin]...), "null"...)
			structured, at = result[begin:end:end], end
		}
	}, jsontext.AllowInvalidUTF8(true)) != nil || structured == nil {
		return result, nil
	}
	return append(rest, result[at:]...), structured
}
