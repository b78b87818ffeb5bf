package tasks

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

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
