package tasks

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"
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

// TestTransitions checks for events in any order that a task makes only the protocol's transitions,
// that the client is notified of its status, and that its memory is counted correctly.
func TestTransitions(t *testing.T) {
	may := map[status][]status{
		working:       {inputRequired, completed, failed, cancelled},
		inputRequired: {working, completed, failed, cancelled},
	}
	rapid.Check(t, func(rt *rapid.T) {
		l := New(Config{Limits: Limits{TTL: time.Hour, Bytes: 1000}})
		defer l.End(0)
		task := newTask(l.newCallContext(context.Background()), "o", core, time.Hour)
		now := working
		task.notify = func(message json.RawMessage) {
			var m struct{ Params struct{ Status status } }
			assert.NilError(rt, json.Unmarshal(message, &m))
			next := m.Params.Status
			assert.Check(rt, slices.Contains(may[now], next), "it went from %s to %s", now, next)
			now = m.Params.Status
		}
		assert.NilError(rt, l.store.add(task))
		asking, settled := 0, false
		steps := map[string]func(*rapid.T){
			"ask":    func(*rapid.T) { l.store.addOpenRequests(task, +1); asking++ },
			"cancel": func(*rapid.T) { _, _ = l.cancelCore(task) },
			"answer": func(st *rapid.T) {
				if asking == 0 {
					st.Skip()
				}
				l.store.addOpenRequests(task, -1)
				asking--
			},
			"settle": func(st *rapid.T) {
				if settled {
					st.Skip()
				}
				settled = true
				k := storedResult{result: make([]byte, rapid.IntRange(1, 2000).Draw(st, "size")), isError: rapid.Bool().Draw(st, "error")}
				if rapid.Bool().Draw(st, "failure") {
					k = storedResult{failure: &jsonrpc.Error{Message: "no"}}
				}
				l.store.finish(task, k)
			},
			"drop": func(*rapid.T) { l.store.drop(task) },
			"": func(st *rapid.T) {
				l.store.mu.Lock()
				defer l.store.mu.Unlock()
				if _, there := l.store.byID[task.id]; there && task.status != now {
					st.Errorf("the task is %s, and the client was told %s", task.status, now)
				}
				select {
				case <-task.finished:
					assert.Check(st, task.status.isFinal(), "it is settled, but %s", task.status)
				default:
					assert.Check(st, !task.status.isFinal(), "it is not settled, but %s", task.status)
				}
				assert.Check(st, is.Equal(l.store.bytes, len(task.result)), "%d bytes are counted, but there are %d", l.store.bytes, len(task.result))
			},
		}
		rt.Repeat(steps)
	})
}

// TestWhichCallsAreTasks checks which clients get a task, and which the result.
func TestWhichCallsAreTasks(t *testing.T) {
	nobody := mcp.Meta{mcp.MetaKeyProtocolVersion: StatelessVersion}
	older := mcp.Meta{mcp.MetaKeyProtocolVersion: "2025-06-18"}
	strange := mcp.Meta{mcp.MetaKeyProtocolVersion: "2025-12-01"} // is answered with 2025-11-25
	for name, c := range map[string]struct {
		meta   mcp.Meta
		tool   string
		wanted string
		lasts  time.Duration
		want   any // true for a task, false for the result, or the code of an error
	}{
		"core, asked for":           {meta(core), "optional", `{}`, 0, true},
		"core, asked for, required": {meta(core), "required", `{}`, 0, true},
		"core, not asked for":       {meta(core), "optional", "", time.Hour, false},
		"core, required":            {meta(core), "required", "", 0, int64(jsonrpc.CodeMethodNotFound)},
		"core, forbidden":           {meta(core), "forbidden", `{}`, 0, int64(jsonrpc.CodeMethodNotFound)},
		"core, unknown":             {meta(core), "unknown", `{}`, 0, false},
		"core, odd version":         {strange, "optional", `{}`, 0, true},
		"older":                     {older, "optional", `{}`, time.Hour, false},
		"older, required":           {older, "required", "", 0, false},
		"no version":                {mcp.Meta{}, "optional", `{}`, 0, false},
		"extension, short":          {meta(extension), "optional", "", DefaultSyncTimeout / 2, false},
		"extension, long":           {meta(extension), "optional", "", DefaultSyncTimeout * 2, true},
		"extension, required":       {meta(extension), "required", "", DefaultSyncTimeout * 2, true},
		"extension, forbidden":      {meta(extension), "forbidden", `{}`, time.Hour, false},
		"extension, unknown":        {meta(extension), "unknown", `{}`, time.Hour, false},
		"not declared":              {nobody, "optional", "", time.Hour, false},
		"not declared, asked for":   {nobody, "optional", `{}`, time.Hour, false},
		"not declared, required":    {nobody, "required", "", 0, int64(mcp.CodeMissingRequiredClientCapabilities)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, Config{})
				w.run = func(_ context.Context, req *mcp.CallToolRequest) (mcp.Result, error) {
					_, parked := req.Params.Meta[stashKey]
					assert.Check(t, !parked, "the handler sees what was parked")
					time.Sleep(c.lasts)
					return said("done"), nil
				}
				params := &mcp.CallToolParamsRaw{Name: c.tool, Meta: mcp.Meta{}}
				for key, value := range c.meta {
					params.Meta[key] = value
				}
				if c.wanted != "" {
					params.Meta[stashKey] = map[string]any{}
				}
				client := w.client()
				a, err := client.receive(client.ctx, "tools/call", &mcp.CallToolRequest{Params: params})
				switch want := c.want.(type) {
				case bool:
					assert.NilError(t, err, a)
					assert.Equal(t, (a.id() != ""), want, a)
					assert.Assert(t, (a.text() == "done") != want, "expected a task: %v; got %v, %v", want, a, err)
				case int64:
					assert.Check(t, is.Equal(code(err), want), "%v %v", a, err)
				default:
					t.Fatalf("%T", want)
				}
				time.Sleep(2 * time.Hour)
			})
		})
	}
}

type requestKey struct{}

// TestDetachedContext checks that a call of the extension's form belongs to its request until it is a
// task, and not after that.
func TestDetachedContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		released := 0
		w := newWorld(t, Config{ContinueContext: func(request, task context.Context) (context.Context, func()) {
			return context.WithValue(task, userKey{}, request.Value(userKey{})), func() { released++ }
		}})
		seen := make(chan [2]any, 2)
		look := func(ctx context.Context) { seen <- [2]any{ctx.Value(requestKey{}), ctx.Value(userKey{})} }
		goOn := make(chan struct{})
		w.run = func(ctx context.Context, _ *mcp.CallToolRequest) (mcp.Result, error) {
			derived, cancel := context.WithTimeout(ctx, time.Hour)
			defer cancel()
			look(derived)
			<-goOn
			look(derived)
			return said("done"), derived.Err()
		}
		c := w.client()
		request, end := context.WithCancel(context.WithValue(c.ctx, requestKey{}, "r"))
		request = context.WithValue(request, userKey{}, "ann")
		a, err := c.call(request, extension, "optional", "")
		assert.NilError(t, err, a)
		assert.Assert(t, a.id() != "", a)
		end() // as the SDK does when the request is answered
		close(goOn)
		got := <-seen
		assert.Check(t, is.Equal(got, [2]any{"r", "ann"}), "as a part of its request the call saw %v", got)
		got = <-seen
		assert.Check(t, is.Equal(got, [2]any{nil, "ann"}), "as a task the call saw %v", got)
		synctest.Wait()
		if got := c.status(extension, a.id()); got != "completed" || released != 1 {
			t.Errorf("the task is %q, what it held was released %d times", got, released)
		}
		w.layer.End(0)
	})
}

// TestARequestThatEndsFirst checks that a request that ends before its call is a task ends the call.
func TestARequestThatEndsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Config{})
		w.run = blockingCall
		c := w.client()
		request, end := context.WithCancel(c.ctx)
		time.AfterFunc(DefaultSyncTimeout/2, end)
		begun := time.Now()
		a, err := c.call(request, extension, "optional", "")
		assert.Assert(t, err != nil, "after %s it gave %v, %v", time.Since(begun), a, err)
		assert.Assert(t, time.Since(begun) == DefaultSyncTimeout/2, "after %s it gave %v, %v", time.Since(begun), a, err)
		w.holds(0, 0)
	})
}
