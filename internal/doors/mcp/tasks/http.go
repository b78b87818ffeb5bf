package tasks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// HTTP prepares the requests of the Streamable HTTP transport for the layer and passes them
// to next. It refuses requests whose headers do not match their body (SEP-2663, "Routing
// Headers"). An earlier handler must limit the body.
func HTTP(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.Body == nil {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			// next reports it: the error comes again when it reads.
			replay(r, io.MultiReader(bytes.NewReader(body), errorReader{err}), -1)
			next.ServeHTTP(w, r)
			return
		}
		if routesTask(r.Header) {
			if id, wrong := wrongRoute(r.Header.Get("Mcp-Name"), body); wrong != "" {
				refuseRoute(w, id, wrong)
				return
			}
		}
		body = stashInBody(body)
		replay(r, bytes.NewReader(body), int64(len(body)))
		next.ServeHTTP(w, r)
	})
}

func replay(r *http.Request, body io.Reader, length int64) {
	r.Body, r.ContentLength = io.NopCloser(body), length
}

// errorReader ends a body with its read error.
type errorReader struct{ err error }

// Read implements io.Reader.
func (f errorReader) Read([]byte) (int, error) { return 0, f.err }

// stashInBody prepares the parameters of the request in a body.
func stashInBody(body []byte) []byte {
	if !mayMentionTask(body) {
		return body
	}
	var request map[string]json.RawMessage
	var method string
	if json.Unmarshal(body, &request) != nil || json.Unmarshal(request["method"], &method) != nil {
		return body
	}
	parked := StashParams(method, request["params"])
	if bytes.Equal(parked, request["params"]) {
		return body
	}
	request["params"] = parked
	rewritten, err := json.Marshal(request)
	if err != nil {
		return body
	}
	return rewritten
}

// routesTask reports whether the headers name a method about tasks. The SDK checks that
// they match the method of the body.
func routesTask(h http.Header) bool {
	return h.Get("Mcp-Protocol-Version") >= StatelessVersion && strings.HasPrefix(h.Get("Mcp-Method"), "tasks/")
}

// wrongRoute returns an error text if the header with the task's id is wrong.
func wrongRoute(name string, body []byte) (id json.RawMessage, wrong string) {
	var request struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			TaskID string `json:"taskId"`
		} `json:"params"`
	}
	if json.Unmarshal(body, &request) != nil {
		return nil, "" // the SDK reports the error
	}
	switch request.Method {
	case "tasks/get", "tasks/update", "tasks/cancel":
	default:
		return nil, ""
	}
	switch name {
	case request.Params.TaskID:
		return nil, ""
	case "":
		return request.ID, fmt.Sprintf("missing required Mcp-Name header for method %q", request.Method)
	}
	return request.ID, "header mismatch: the Mcp-Name header is not the taskId of the body"
}

func refuseRoute(w http.ResponseWriter, id json.RawMessage, wrong string) {
	if id == nil {
		id = json.RawMessage("null")
	}
	body, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": mcp.CodeHeaderMismatch, "message": wrong},
	})
	if err != nil {
		body = nil // id was decoded from JSON
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = w.Write(body) // a client that has gone does not read it
}
