package tasks

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestStashParams(t *testing.T) {
	for name, c := range map[string]struct{ method, params, want string }{
		"no task":        {"tools/call", `{"name":"x"}`, `{"name":"x"}`},
		"another method": {"prompts/get", `{"task":{}}`, `{"task":{}}`},
		"a task":         {"tools/call", `{"name":"x","task":{"ttl":1}}`, `{"_meta":{"aai.internal/tasks":{"ttl":1}},"name":"x","task":{"ttl":1}}`},
		"beside meta":    {"tools/call", `{"_meta":{"a":1},"task":{}}`, `{"_meta":{"a":1,"aai.internal/tasks":{}},"task":{}}`},
		"meta is null":   {"tools/call", `{"_meta":null,"task":{}}`, `{"_meta":{"aai.internal/tasks":{}},"task":{}}`},
		"task is null":   {"tools/call", `{"task":null}`, `{"_meta":{"aai.internal/tasks":null},"task":null}`},
		"meta is odd":    {"tools/call", `{"_meta":7,"task":{}}`, `{"_meta":7,"task":{}}`},
		"an argument":    {"tools/call", `{"arguments":{"task":1}}`, `{"arguments":{"task":1}}`},
		"forged":         {"tools/call", `{"_meta":{"aai.internal/tasks":{}},"name":"x"}`, `{"_meta":{},"name":"x"}`},
		"forged, too":    {"tools/call", `{"_meta":{"aai.internal/tasks":1},"task":2}`, `{"_meta":{"aai.internal/tasks":2},"task":2}`},
		"no object":      {"tools/call", `["task"]`, `["task"]`},
		"null":           {"tools/call", `null`, `null`},
		"no JSON":        {"tools/call", `{"task":`, `{"task":`},
		"listening":      {"subscriptions/listen", `{"notifications":{"taskIds":["a"]}}`, `{"_meta":{"aai.internal/tasks":["a"]},"notifications":{"taskIds":["a"]}}`},
		"listening, odd": {"subscriptions/listen", `{"notifications":7,"taskIds":1}`, `{"notifications":7,"taskIds":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			got := StashParams(c.method, json.RawMessage(c.params))
			assert.Check(t, is.Equal(string(got), c.want), got)
			makes := MakesTask(c.method, got)
			assert.Check(t, is.Equal(makes, (c.method == "tools/call" && strings.Contains(c.want, stashKey))), "it makes a task: %v", makes)
		})
	}
}

// FuzzStashParams checks for any parameters that only forged members are lost.
func FuzzStashParams(f *testing.F) {
	for _, seed := range []string{`{"task":{}}`, `{"_meta":{"x":"\u003c"},"task":[1.0e3],"a":null}`, `{"_meta":{"aai.internal/tasks":1}}`, `{"task":1,"task":2}`} {
		f.Add("tools/call", seed)
	}
	f.Add("subscriptions/listen", `{"notifications":{"taskIds":[]}}`)
	f.Fuzz(func(t *testing.T, method, params string) {
		parked := StashParams(method, json.RawMessage(params))
		var before, after map[string]any
		if json.Unmarshal([]byte(params), &before) != nil {
			assert.Check(t, is.Equal(string(parked), params), "%q", parked)
			return
		}
		assert.NilError(t, json.Unmarshal(parked, &after))
		for _, all := range []map[string]any{before, after} {
			if meta, ok := all["_meta"].(map[string]any); ok {
				delete(meta, stashKey)
				if len(meta) == 0 {
					delete(all, "_meta")
				}
			}
			if all["_meta"] == nil {
				delete(all, "_meta")
			}
		}
		assert.Check(t, is.DeepEqual(before, after))
	})
}

// TestTakeStashed checks that stashed parameters are taken once, and not by others.
func TestTakeStashed(t *testing.T) {
	call := &mcp.CallToolParamsRaw{Meta: mcp.Meta{"a": 1, stashKey: map[string]any{"ttl": 5.0}}}
	if got := string(takeStashed(call)); got != `{"ttl":5}` || len(call.Meta) != 1 || takeStashed(call) != nil {
		t.Errorf("got %s, and left %v", got, call.Meta)
	}
	for _, none := range []mcp.Params{nil, (*mcp.CallToolParamsRaw)(nil), (*mcp.SubscriptionsListenParams)(nil), &mcp.CallToolParamsRaw{}, &mcp.InitializedParams{}} {
		got := takeStashed(none)
		assert.Check(t, got == nil, "%#v gave %s", none, got)
	}
}

func TestPrepareBody(t *testing.T) {
	const modern = "2026-07-28"
	get := `{"jsonrpc":"2.0","id":7,"method":"tasks/get","params":{"taskId":"T"}}`
	for name, c := range map[string]struct {
		version, names, called, body string
		want                         string // the prepared body; "" if it is refused
	}{
		"a task":               {"2025-11-25", "", "", `{"method":"tools/call","params":{"task":{}}}`, `{"method":"tools/call","params":{"_meta":{"aai.internal/tasks":{}},"task":{}}}`},
		"no task":              {"2025-11-25", "", "", ` {"method":"tools/call","params":{}}`, ` {"method":"tools/call","params":{}}`},
		"a batch":              {"2025-03-26", "", "", `[{"method":"tools/call","params":{"task":{}}}]`, `[{"method":"tools/call","params":{"task":{}}}]`},
		"no JSON":              {modern, "T", "tasks/get", `{"task`, `{"task`},
		"no method":            {modern, "", "", `{"params":{"task":{}}}`, `{"params":{"task":{}}}`},
		"the right task":       {modern, "T", "tasks/get", get, get},
		"the wrong task":       {modern, "X", "tasks/get", get, ""},
		"no task named":        {modern, "", "tasks/get", get, ""},
		"wrong, to be updated": {modern, "X", "tasks/update", strings.Replace(get, "get", "update", 1), ""},
		"wrong, to be ended":   {modern, "X", "tasks/cancel", strings.Replace(get, "get", "cancel", 1), ""},
		"wrong, without id":    {modern, "X", "tasks/cancel", `{"method":"tasks/cancel"}`, ""},
		"the older era":        {"2025-11-25", "X", "tasks/get", get, get},
		"there is none":        {modern, "X", "tasks/list", strings.Replace(get, "get", "list", 1), strings.Replace(get, "get", "list", 1)},
		"another method":       {modern, "X", "tools/list", get, get}, // the SDK refuses it
	} {
		t.Run(name, func(t *testing.T) {
			h := http.Header{}
			h.Set("Mcp-Protocol-Version", c.version)
			h.Set("Mcp-Method", c.called)
			h.Set("Mcp-Name", c.names)
			prepared, refused := PrepareBody(h, []byte(c.body))
			assert.Check(t, is.Equal(string(prepared), c.want), "%q", prepared)
			if c.want == "" {
				checkRefusal(t, refused)
			}
		})
	}
}

func checkRefusal(t *testing.T, refused any) {
	t.Helper()
	b, err := json.Marshal(refused)
	assert.NilError(t, err)
	var m struct {
		ID    json.RawMessage
		Error struct {
			Code    int
			Message string
		}
	}
	err = json.Unmarshal(b, &m)
	assert.NilError(t, err, b)
	assert.Equal(t, m.Error.Code, -32020, b)
	assert.Assert(t, m.Error.Message != "", "it was refused by %s", b)
	assert.Assert(t, string(m.ID) == "7" || string(m.ID) == "null", "it was refused by %s", b)
}
