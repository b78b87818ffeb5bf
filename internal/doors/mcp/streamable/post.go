package streamable

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/gybob/aai-gateway/internal/doors/httpdoor"
	"github.com/gybob/aai-gateway/internal/doors/mcp/messages"
)

// A postedBody is the body of a POST.
type postedBody struct {
	bytes []byte
	opens bool // it contains a request to open a session
}

// A readCloser is a body that was read already.
type readCloser struct{ *bytes.Reader }

// Close implements io.Closer.
func (readCloser) Close() error { return nil }

// readPost reads and checks the body; stdio has the same checks for a line. The caller's next request
// may wait until end. readPost reports false if it has refused the request or the client no longer
// waits.
func (h *Server) readPost(w http.ResponseWriter, r *http.Request, x *Exchange) (sent postedBody, end func(), ok bool) {
	b, end, ok := h.ReadBody(w, r)
	if !ok {
		return postedBody{}, nil, false
	}
	opens, refused := readMessages(b)
	if refused != nil {
		refused.write(w)
		end()
		return postedBody{}, nil, false
	}
	x.started = end
	return postedBody{bytes: b, opens: opens}, end, true
}

// readMessages checks the message, or each of a batch, before the SDK does.
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

// A refusal is the answer to a request that does not become a message.
type refusal struct {
	httpdoor.Refusal
	code int64
}

func (r *refusal) write(w http.ResponseWriter) { r.Write(w, withoutID(r.code, r.Message)) }

// refusalBody returns the body of a refusal by package httpdoor.
func refusalBody(r httpdoor.Refusal) any {
	if r.Status == http.StatusTooManyRequests || r.Status == http.StatusServiceUnavailable {
		return withoutID(codeOverloaded, r.Message)
	}
	return withoutID(codeInvalidRequest, r.Message)
}

// withoutID returns a JSON-RPC error without an id, as the protocol requires for invalid
// messages.
func withoutID(code int64, message string) any {
	return map[string]any{
		"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": message},
	}
}

func refuse(w http.ResponseWriter, status int, code int64, message string) {
	(&refusal{httpdoor.Refusal{Status: status, Message: message}, code}).write(w)
}

// tooMany asks the caller to try again in a second.
func tooMany(w http.ResponseWriter, message string) {
	(&refusal{httpdoor.Refusal{Status: http.StatusTooManyRequests, Message: message, RetryAfter: time.Second}, codeOverloaded}).write(w)
}
