package dbus

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// handlerApp implements the AAI protocol: it answers with the given envelope, in which $id stands
// for the request's id.
type handlerApp struct {
	mu       sync.Mutex
	reply    string
	requests []map[string]any
}

func (a *handlerApp) answer(reply string) {
	a.mu.Lock()
	a.reply = reply
	a.mu.Unlock()
}

func (a *handlerApp) got() []map[string]any {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.requests
}

func (a *handlerApp) handle(text string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var request map[string]any
	if err := json.Unmarshal([]byte(text), &request); err != nil {
		return err.Error()
	}
	a.requests = append(a.requests, request)
	id, _ := request["request_id"].(string)
	return strings.ReplaceAll(a.reply, "$id", id)
}

func handler(t *testing.T) (aai.Action, *handlerApp) {
	t.Helper()
	b := testkit.StartBus(t)
	app := &handlerApp{}
	testkit.ServeOnBus(t, b, defaultService).Handle(app.handle)
	return compile(t, newDriver(t, b), &aai.Recipe{Tool: "send", IPC: &aai.IPCRecipe{}}), app
}

func TestEnvelope(t *testing.T) {
	action, app := handler(t)
	app.answer(`{"version":"1.0","request_id":"$id","status":"success","result":{"sent":9007199254740993}}`)
	got, err := action(soon(t), &aai.Call{ID: "c1", Args: map[string]any{"to": []any{"a"}}})
	assert.NilError(t, err)
	want := &aai.Result{Text: `{"sent":9007199254740993}`, Data: map[string]any{"sent": json.Number("9007199254740993")}}
	assert.Check(t, is.DeepEqual(want, got))
	sent := map[string]any{"version": "1.0", "tool": "send", "request_id": "c1", "params": map[string]any{"to": []any{"a"}}}
	assert.Check(t, is.DeepEqual([]map[string]any{sent}, app.got()))

	// A call without an id or arguments gets an id and an empty object.
	run(t, action, nil)
	second := app.got()[1]
	id, _ := second["request_id"].(string)
	assert.Check(t, len(id) >= 16, "request_id %q", id)
	params, ok := second["params"].(map[string]any)
	assert.Assert(t, ok, "params %v", second["params"])
	assert.Assert(t, is.Len(params, 0), second["params"])
}

func TestEnvelopeResults(t *testing.T) {
	action, app := handler(t)
	for result, want := range map[string]*aai.Result{
		``:                  {Text: noValueText},
		`,"result":null`:    {Text: noValueText},
		`,"result":"hi"`:    {Text: "hi", Data: "hi"},
		`,"result":[1,"b"]`: {Text: `[1,"b"]`, Data: []any{json.Number("1"), "b"}},
	} {
		app.answer(`{"version":"1.0","request_id":"$id","status":"success"` + result + `}`)
		assert.Check(t, is.DeepEqual(want, run(t, action, nil)), "%s", result)
	}
}

func TestEnvelopeErrors(t *testing.T) {
	table := map[string]aai.Code{
		`"INVALID_REQUEST"`:     aai.InvalidParams,
		`"INVALID_PARAMS"`:      aai.InvalidParams,
		`"UNKNOWN_APP"`:         aai.AppNotFound,
		`"UNKNOWN_TOOL"`:        aai.ToolNotFound,
		`"AUTH_REQUIRED"`:       aai.PermissionDenied,
		`"AUTH_DENIED"`:         aai.PermissionDenied,
		`"CONSENT_REQUIRED"`:    aai.PermissionDenied,
		`"TIMEOUT"`:             aai.Timeout,
		`"NOT_FOUND"`:           aai.AutomationFailed,
		`"RATE_LIMITED"`:        aai.AutomationFailed,
		`"SERVICE_UNAVAILABLE"`: aai.AppNotRunning,
		`"INTERNAL_ERROR"`:      aai.AutomationFailed,
		`"NOT_IMPLEMENTED"`:     aai.AutomationNotSupported,
		`"SCRIPT_PARSE_ERROR"`:  aai.ScriptParseError,
		`-32010`:                aai.ScriptParseError,
		`-32005`:                aai.InvalidParams,
		`-32003`:                aai.ToolNotFound,
		`"never heard of"`:      aai.AutomationFailed,
		`{}`:                    aai.AutomationFailed,
		`null`:                  aai.AutomationFailed,
	}
	action, app := handler(t)
	for code, want := range table {
		app.answer(`{"version":"1.0","request_id":"$id","status":"error","error":{"code":` + code + `,"message":"no\u001b such\nthing"}}`)
		err := fail(t, action, nil, want, aai.Delivered)
		assert.Check(t, strings.HasSuffix(err.Message, ": no such thing"), err.Message)
	}
	assert.Check(t, is.Len(app.got(), len(table)), "%d requests for %d calls", len(app.got()), len(table))
}

func TestEnvelopesThatAreBroken(t *testing.T) {
	action, app := handler(t)
	for _, reply := range []string{
		``, `[]`, `{`, `not JSON`,
		`{"status":"success","result":1}`,
		`{"request_id":"another","status":"success","result":1}`,
		`{"request_id":"another","status":"error","error":{"code":"TIMEOUT"}}`,
		`{"request_id":"$id","status":"done"}`,
		`{"request_id":"$id"}`,
		`{"request_id":"$id","status":"error"}`,
	} {
		app.answer(reply)
		fail(t, action, nil, aai.AutomationFailed, aai.Delivered)
	}
}
