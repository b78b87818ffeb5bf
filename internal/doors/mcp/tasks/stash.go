package tasks

import (
	"bytes"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// stashKey is where, in the _meta of a request, Park leaves what the SDK would
// drop: it decodes the parameters that it knows, and gives no one the others.
const stashKey = "aai.internal/tasks"

// StashParams prepares the parameters of a request for the SDK: what they say of tasks
// goes to where the layer finds it. A transport calls it for every request that
// it reads. What a client put in that place itself is thrown away.
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

// mayMentionTask reports whether parameters may have to be read: it is cheap, and right
// for nearly all.
func mayMentionTask(params json.RawMessage) bool {
	return bytes.Contains(params, []byte(`"task`)) || bytes.Contains(params, []byte("aai.internal"))
}

// taskParams is what the parameters say of tasks: how long the client wants one
// kept, or which it wants to hear of.
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

// MakesTask reports whether parameters that Park prepared ask for a task.
func MakesTask(method string, params json.RawMessage) bool {
	return method == "tools/call" && bytes.Contains(params, []byte(stashKey))
}

// takeStashed takes what was parked out of the parameters; nil if nothing was.
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
		return nil // what was decoded from JSON can be encoded
	}
	return raw
}
