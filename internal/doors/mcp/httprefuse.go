package mcp

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
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
	status  int
	code    int64
	message string
	after   time.Duration // when it may be tried again, if it may
}

// write answers with a JSON-RPC error without an id, as the protocol has it.
func (r *refusal) write(w http.ResponseWriter) {
	if r.after > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(r.after.Seconds())))
	}
	b, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": r.code, "message": r.message},
	})
	if err != nil {
		http.Error(w, r.message, r.status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(r.status)
	_, _ = w.Write(b) // whoever is gone does not need it
}

func refuse(w http.ResponseWriter, status int, code int64, message string) {
	(&refusal{status: status, code: code, message: message}).write(w)
}

// tooMany asks the caller to come again in a second.
func tooMany(w http.ResponseWriter, message string) {
	(&refusal{status: http.StatusTooManyRequests, code: codeOverloaded, message: message, after: time.Second}).write(w)
}
