package mcp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/drivers/mcp"
)

// An answer with too many or too deep values is refused while it arrives; the server keeps running.
func TestAnswersThatHoldTooMuch(t *testing.T) {
	for kind, want := range map[string]string{
		"many values":   "sent an answer with more than 300000 values and names",
		"many in order": "sent an answer with more than 300000 values and names",
		"deep":          "sent an answer with values nested more than 900 deep",
	} {
		forHostileWorlds(t, kind, func(t *testing.T, w *world, app string) {
			w.start(t, app)
			for range 2 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				_, e := w.callIn(ctx, app, "do", nil)
				cancel()
				assert.Assert(t, e != nil, "%+v", e)
				assert.Equal(t, e.Code, aai.AutomationFailed, "%+v", e)
				assert.Assert(t, e.Delivery != aai.NotDelivered, "%+v", e)
				assert.Assert(t, is.Contains(e.Message, want), "%+v", e)
				assert.Assert(t, is.Contains(e.Message, app), "%+v", e)
			}
		})
	}
}

// A server that answers without a stream keeps its session when the gateway refuses an answer.
func TestJSONAnswersThatHoldTooMuch(t *testing.T) {
	server := sdk.NewServer(&sdk.Implementation{Name: "far", Version: "1"}, nil)
	sizes := map[string]int{"less": 1000, "more": 400_000}
	for name, size := range sizes {
		server.AddTool(&sdk.Tool{Name: name, InputSchema: dict{"type": "object"}}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{StructuredContent: dict{"a": make([]int, size)}}, nil
		})
	}
	var opened atomic.Int64
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{JSONResponse: true})
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.Header.Get("Mcp-Session-Id") == "" {
			opened.Add(1)
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { far.CloseClientConnections(); far.Close(); http.DefaultClient.CloseIdleConnections() })
	w := newWorld(t, func(c *mcp.Config) { c.Client = http.DefaultClient })
	app := w.add(t, &aai.MCPRecipe{URL: far.URL})
	w.start(t, app)
	before := opened.Load()
	_, e := w.call(t, app, "more", nil)
	assert.Assert(t, e != nil, "%+v", e)
	assert.Equal(t, e.Delivery, aai.Delivered, "%+v", e)
	assert.Assert(t, is.Contains(e.Message, "more than 300000 values and names"), "%+v", e)
	result, e := w.call(t, app, "less", nil)
	assert.Assert(t, e == nil, "%+v %v", result, e)
	assert.Assert(t, is.Len(result.Data.(map[string]any)["a"].([]any), 1000), "%+v %v", result, e)
	assert.Check(t, is.Equal(opened.Load(), before), "the session has ended")
}
