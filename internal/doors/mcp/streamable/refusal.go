package streamable

import (
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/gybob/aai-gateway/internal/doors/httpdoor"
)

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
