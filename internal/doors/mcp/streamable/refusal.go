package streamable

import (
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/gybob/aai-gateway/internal/doors/httpdoor"
)

// Codes of JSON-RPC errors that say why a request was refused. The last two are
// of the range that is the server's own; clients know -32001 from the SDKs of
// the protocol.
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

// refusalBody is what the refusal of a request holds that did not come so far.
func refusalBody(r httpdoor.Refusal) any {
	if r.Status == http.StatusTooManyRequests || r.Status == http.StatusServiceUnavailable {
		return withoutID(codeOverloaded, r.Message)
	}
	return withoutID(codeInvalidRequest, r.Message)
}

// withoutID is a JSON-RPC error without an id, as the protocol has it for what is no
// message.
func withoutID(code int64, message string) any {
	return map[string]any{
		"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": message},
	}
}

func refuse(w http.ResponseWriter, status int, code int64, message string) {
	(&refusal{httpdoor.Refusal{Status: status, Message: message}, code}).write(w)
}

// tooMany asks the caller to come again in a second.
func tooMany(w http.ResponseWriter, message string) {
	(&refusal{httpdoor.Refusal{Status: http.StatusTooManyRequests, Message: message, RetryAfter: time.Second}, codeOverloaded}).write(w)
}
