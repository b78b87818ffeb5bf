package dbus

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	godbus "github.com/godbus/dbus/v5"
	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// Every encoded value decodes to the same value, with the driver and with godbus.
func FuzzEncode(f *testing.F) {
	f.Add("y", `255`)
	f.Add("a{sv}", `{"a": {"signature": "ay", "value": [1, 255]}, "b": [1, "x", {"c": null}]}`)
	f.Add("a(ia{bs})", `[[1.0, {"true": "x"}]]`)
	f.Add("aat", `[[], [18446744073709551615]]`)
	f.Add("v", `[[[[[[1e3]]]]]]`)
	f.Add("(do)", `["NaN", "/"]`)
	f.Fuzz(func(t *testing.T, sig, text string) {
		typ, err := wire.ParseType(sig)
		if _, theirs := godbus.ParseSignature(sig); err == nil && theirs != nil {
			t.Fatalf("%q is no signature: %v", sig, theirs)
		}
		d := json.NewDecoder(bytes.NewReader([]byte(text)))
		d.UseNumber()
		var v any
		if err != nil || d.Decode(&v) != nil {
			return
		}
		got, frame, err := throughTheWire(v, typ)
		if frame == nil {
			return // the value does not fit the type
		}
		assert.NilError(t, err, "%s %s", sig, text)
		theirs, err := byGodbus(frame)
		if godbusCannot(err) {
			return
		}
		diff := cmp.Diff(theirs, got)
		assert.NilError(t, err, "%s %s", sig, text)
		assert.Equal(t, diff, "", "%s %s", sig, text)
	})
}

// Encoding and decoding of values without a message.
func FuzzRoundTrip(f *testing.F) {
	f.Add("a{sv}", []byte("\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Add("(ysav)", []byte("\x01\x00\x00\x00\x01\x00\x00\x00x\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, sig string, body []byte) {
		typ, err := wire.ParseType(sig)
		if err != nil {
			return
		}
		m := wire.Message{Kind: wire.KindSignal, Path: "/a", Interface: "a.b", Member: "C", Signature: sig, Body: body}
		read, err := wire.ReadMessage(bytes.NewReader(m.Frame(1)))
		assert.NilError(t, err)
		values, err := valuesOf(read)
		if err != nil {
			return
		}
		_, err = json.Marshal(values)
		assert.NilError(t, err, sig)
		again, _, err := throughTheWire(values[0], typ)
		if err != nil || bytes.Contains([]byte(sig), []byte("v")) {
			return // a variant has the inferred type, which may differ
		}
		assert.Assert(t, is.DeepEqual(values[0], again), "%s", sig)
	})
}

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
