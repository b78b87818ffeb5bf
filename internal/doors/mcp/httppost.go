package mcp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"aai/internal/doors/httpdoor"
)

// A post is what was posted.
type post struct {
	bytes []byte
	opens bool // it is a request to open a session
	// arguments are those of a call that go around the SDK.
	arguments json.RawMessage
}

// A body is one that was read already.
type body struct{ *bytes.Reader }

// Close implements io.Closer.
func (body) Close() error { return nil }

// readPost reads the body, and holds it to what stdio asks of a line. The request has
// begun then, until end. It reports false when it has answered, or nobody waits.
func (h *HTTPServer) readPost(w http.ResponseWriter, r *http.Request, x *exchange) (sent post, end func(), ok bool) {
	b, end, ok := h.ReadBody(w, r)
	if !ok {
		return post{}, nil, false
	}
	opens, refused := readMessages(b)
	if refused != nil {
		refused.write(w)
		end()
		return post{}, nil, false
	}
	x.started = end
	return post{bytes: b, opens: opens}, end, true
}

// lift takes large arguments out of a message that is a call.
func (p *post) lift() {
	if len(p.bytes) < largeArguments || bytes.TrimLeft(p.bytes, " \t\r\n")[0] == '[' {
		return
	}
	parts, err := partsOf(p.bytes)
	if err != nil || string(parts.method) != `"tools/call"` {
		return
	}
	short, arguments, err := lift("tools/call", parts.params)
	if err != nil || arguments == nil {
		return
	}
	id := parts.id
	if id == nil {
		return // the SDK says what is wrong
	}
	p.bytes = slices.Concat([]byte(`{"jsonrpc":"2.0","id":`), id, []byte(`,"method":"tools/call","params":`), short, []byte("}"))
	p.arguments = arguments
}

// readMessages looks at the message, or the batch of them, before the SDK does.
func readMessages(b []byte) (opens bool, refused *refusal) {
	malformed := func(code int64, message string) *refusal {
		return &refusal{httpdoor.Refusal{Status: http.StatusBadRequest, Message: message}, code}
	}
	b = bytes.TrimLeft(b, " \t\r\n")
	if len(b) == 0 {
		return false, malformed(codeInvalidRequest, "the body is empty; expected a JSON-RPC message")
	}
	if !utf8.Valid(b) {
		return false, malformed(codeParseError, "the message is not valid UTF-8")
	}
	parts := []json.RawMessage{b}
	if b[0] == '[' {
		if err := json.Unmarshal(b, &parts); isMalformed(err) {
			return false, malformed(codeParseError, "the message is not valid JSON")
		}
		if len(parts) == 0 || len(parts) > maxBatch {
			return false, malformed(codeInvalidRequest, "the batch is empty, or has more than 100 messages")
		}
	}
	for _, part := range parts {
		m, err := decode(part)
		if isMalformed(err) {
			return false, malformed(codeParseError, "the message is not valid JSON")
		}
		if err != nil {
			return false, malformed(codeInvalidRequest, "the message is not JSON-RPC 2.0: "+err.Error())
		}
		if request, ok := m.(*jsonrpc.Request); ok && request.Method == "initialize" {
			opens = true
		}
	}
	return opens, nil
}
