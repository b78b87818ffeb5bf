package streamable

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/gybob/aai-gateway/internal/doors/httpdoor"
	"github.com/gybob/aai-gateway/internal/doors/mcp/messages"
)

// readPost reads and checks the body, and reports whether it contains a request to open a session;
// stdio has the same checks for a line. The caller's next request may wait until end. end is nil if
// readPost has refused the request or the client no longer waits.
func readPost(h *httpdoor.Server, w http.ResponseWriter, r *http.Request) (body []byte, opens bool, end func()) {
	body, end, ok := h.ReadBody(w, r)
	if !ok {
		return nil, false, nil
	}
	opens, refused := readMessages(body)
	if refused != nil {
		h.Refuse(w, *refused)
		end()
		return nil, false, nil
	}
	return body, opens, end
}

// readMessages checks the message, or each of a batch, before the SDK does.
func readMessages(b []byte) (opens bool, refused *httpdoor.Refusal) {
	malformed := func(code int64, message string) *httpdoor.Refusal {
		return &httpdoor.Refusal{Status: http.StatusBadRequest, Message: message, Code: code}
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
		var err error
		if parts, err = messages.SplitBatch(b); messages.IsMalformed(err) {
			return false, malformed(codeParseError, "the message is not valid JSON")
		}
		if err != nil {
			return false, malformed(codeInvalidRequest, err.Error())
		}
	}
	for _, part := range parts {
		m, err := messages.Decode(part)
		if messages.IsMalformed(err) {
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

// Codes of JSON-RPC errors for refused requests. The last two are in the range for servers;
// clients know -32001 from the SDKs of the protocol.
const (
	codeParseError      = jsonrpc.CodeParseError
	codeInvalidRequest  = jsonrpc.CodeInvalidRequest
	codeOverloaded      = -32000
	codeSessionNotFound = -32001
)

// refusalBody returns the body of a refusal: a JSON-RPC error without an id, as the protocol
// requires for invalid messages.
func refusalBody(r httpdoor.Refusal) any {
	code := cmp.Or(r.Code, codeInvalidRequest)
	if r.Status == http.StatusTooManyRequests || r.Status == http.StatusServiceUnavailable {
		code = codeOverloaded
	}
	return map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": r.Message}}
}

// badRequest is the refusal of a request that is no message of the protocol.
func badRequest(message string) httpdoor.Refusal {
	return httpdoor.Refusal{Status: http.StatusBadRequest, Message: message}
}

// noSession is the refusal of a request in an unknown session. It is the same for another caller's
// session, to reveal nothing about it.
func noSession(message string) httpdoor.Refusal {
	return httpdoor.Refusal{Status: http.StatusNotFound, Message: message, Code: codeSessionNotFound}
}
