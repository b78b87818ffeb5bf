package tasks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// stashKey is the key in the _meta of a request for parameters that the SDK would drop: it
// decodes only the parameters that it knows.
const stashKey = "aai.internal/tasks"

// StashParams copies the parameters of a request about tasks, which the SDK would drop, to a key of
// _meta. The layer finds them there. A transport calls it for every request that it reads. It removes a
// client's own value of that key.
func StashParams(method string, params json.RawMessage) json.RawMessage {
	if method != "tools/call" && method != "subscriptions/listen" || !mayMentionTask(params) {
		return params
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(params, &all) != nil || all == nil {
		return params
	}
	meta := map[string]json.RawMessage{}
	if raw, ok := all["_meta"]; ok && json.Unmarshal(raw, &meta) != nil {
		return params
	}
	said := taskParams(method, all)
	_, forged := meta[stashKey]
	if said == nil && !forged {
		return params
	}
	delete(meta, stashKey)
	if said != nil {
		if meta == nil { // it was null
			meta = map[string]json.RawMessage{}
		}
		meta[stashKey] = said
	}
	var err error
	if all["_meta"], err = json.Marshal(meta); err != nil {
		return params
	}
	parked, err := json.Marshal(all)
	if err != nil {
		return params
	}
	return parked
}

// mayMentionTask reports whether the parameters must be parsed. It is cheap and excludes
// nearly all requests.
func mayMentionTask(params json.RawMessage) bool {
	return bytes.Contains(params, []byte(`"task`)) || bytes.Contains(params, []byte("aai.internal"))
}

// taskParams returns the parameters about tasks: the requested lifetime, or the ids of
// tasks to subscribe to.
func taskParams(method string, all map[string]json.RawMessage) json.RawMessage {
	if method == "tools/call" {
		return all["task"]
	}
	var notifications map[string]json.RawMessage
	if json.Unmarshal(all["notifications"], &notifications) != nil {
		return nil
	}
	return notifications["taskIds"]
}

// MakesTask reports whether parameters from StashParams request a task.
func MakesTask(method string, params json.RawMessage) bool {
	return method == "tools/call" && bytes.Contains(params, []byte(stashKey))
}

// takeStashed removes the stashed parameters from _meta and returns them; nil if there are none.
func takeStashed(of mcp.Params) json.RawMessage {
	var meta mcp.Meta
	switch of := of.(type) {
	case *mcp.CallToolParamsRaw:
		if of != nil {
			meta = of.Meta
		}
	case *mcp.SubscriptionsListenParams:
		if of != nil {
			meta = of.Meta
		}
	}
	parked, ok := meta[stashKey]
	if !ok {
		return nil
	}
	delete(meta, stashKey)
	raw, err := json.Marshal(parked)
	if err != nil {
		return nil // data decoded from JSON can be encoded
	}
	return raw
}

// PrepareBody prepares the body of a POST of the Streamable HTTP transport for Receive. refused is nil,
// or the JSON-RPC error for a request whose headers do not match its body (SEP-2663, "Routing Headers").
func PrepareBody(h http.Header, body []byte) (prepared []byte, refused any) {
	if h.Get("Mcp-Protocol-Version") >= StatelessVersion && strings.HasPrefix(h.Get("Mcp-Method"), "tasks/") {
		// The SDK checks that the headers match the method of the body.
		if id, wrong := wrongRoute(h.Get("Mcp-Name"), body); wrong != "" {
			return nil, map[string]any{
				"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": mcp.CodeHeaderMismatch, "message": wrong},
			}
		}
	}
	return stashInBody(body), nil
}

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
