package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/drivers/mcp"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// fakeAuthorizer adds a header if it has a token.
type fakeAuthorizer struct{ token atomic.Pointer[string] }

func (l *fakeAuthorizer) Authorize(_ context.Context, r *aai.Recipe, req *http.Request) error {
	if token := l.token.Load(); token != nil && r.HTTP.Auth.Kind == aai.AuthBearer {
		req.Header.Set("Authorization", "Bearer "+*token)
		return nil
	}
	return &aai.Error{Code: aai.AuthRequired, Message: "log in to " + r.HTTP.BaseURL, Hint: "log in"}
}

func (l *fakeAuthorizer) HandleRefusal(context.Context, *aai.Recipe, *http.Response) (bool, error) {
	return false, &aai.Error{Code: aai.AuthExpired, Message: "log in again"}
}

// remoteServer is a server of the SDK over HTTP that requires a token.
func remoteServer(t *testing.T) (address string, wants *atomic.Pointer[string], seen *atomic.Value) {
	t.Helper()
	server := sdk.NewServer(&sdk.Implementation{Name: "far", Version: "1"}, nil)
	type input struct {
		Word string `json:"word"`
	}
	sdk.AddTool(server, &sdk.Tool{Name: "say", Description: "Says a word"}, func(_ context.Context, _ *sdk.CallToolRequest, in input) (*sdk.CallToolResult, any, error) {
		words := in.Word
		if words == "long" {
			words = strings.Repeat("x", 17<<20)
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: words}}}, nil, nil
	})
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	wants, seen = new(atomic.Pointer[string]), new(atomic.Value)
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if want := wants.Load(); want != nil && r.Header.Get("Authorization") != "Bearer "+*want {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		seen.Store(r.Header.Get("X-Version"))
		if r.URL.Path != "/mcp" {
			http.Redirect(w, r, "/mcp", http.StatusTemporaryRedirect)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(far.Close)
	return far.URL, wants, seen
}

// A server at an address is reached with the user's login, through the driver's client.
func TestOverHTTP(t *testing.T) {
	address, wants, seen := remoteServer(t)
	first, second := "one", "two"
	wants.Store(&first)
	known := new(fakeAuthorizer)
	w := newWorld(t, func(c *mcp.Config) { c.Client, c.Authorizer = http.DefaultClient, known })
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	t.Setenv("TEST_VERSION", "7")
	app := w.add(t, &aai.MCPRecipe{URL: address + "/mcp", Env: []string{"TEST_VERSION"}, Headers: map[string]string{"X-Version": "${TEST_VERSION}"}, Auth: &aai.AuthRecipe{Kind: aai.AuthBearer}})
	if _, e := w.call(t, app, "mcp_start", nil); e == nil || e.Code != aai.AuthRequired || e.Delivery != aai.NotDelivered || e.Hint != "log in" {
		t.Errorf("%+v", e)
	}
	known.token.Store(&first)
	w.start(t, app)
	result, e := w.call(t, app, "say", map[string]any{"word": "over HTTP"})
	if e != nil || result.Text != "over HTTP" || seen.Load() != "7" {
		t.Errorf("%+v, %+v, version %v", result, e, seen.Load())
	}
	_, e = w.call(t, app, "say", map[string]any{"word": "long"})
	assert.Assert(t, e != nil, "%+v", e)
	assert.Equal(t, e.Delivery, aai.DeliveryUnknown, "%+v", e)
	assert.Assert(t, e.Code == aai.AutomationFailed || e.Code == aai.AppNotRunning, "%+v", e)
	wants.Store(&second)
	_ = w.fails(t, aai.AuthExpired, app, "say", map[string]any{"word": "x"})
	known.token.Store(&second)
	result = w.must(t, app, "say", map[string]any{"word": "again"})
	assert.Equal(t, result.Text, "again", "%+v", result)
}

// oddServer is a server over HTTP with a tool that cannot be read, and an answer with an unknown content.
func oddServer(t *testing.T, stream bool) string {
	t.Helper()
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m message
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil || m.ID == nil {
			w.WriteHeader(map[string]int{http.MethodPost: http.StatusAccepted}[r.Method] + map[string]int{http.MethodGet: http.StatusMethodNotAllowed, http.MethodDelete: http.StatusOK}[r.Method])
			return
		}
		result := `{"content": [{"type": "text", "text": "a"}, {"type": "hologram"}], "structuredContent": {"n": 9007199254740993}}`
		switch m.Method {
		case "initialize":
			result = `{"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "odd", "version": "1"}}`
		case "tools/list":
			result = `{"tools": [{"name": 7}, {"name": "do", "inputSchema": {"type": "object"}}]}`
		}
		body := fmt.Sprintf(`{"jsonrpc": "2.0", "id": %v, "result": %s}`, m.ID, result)
		w.Header().Set("Content-Type", "application/json")
		if stream {
			w.Header().Set("Content-Type", "text/event-stream")
			body = "event: message\ndata: " + body + "\n\n"
		}
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(far.Close)
	return far.URL
}

// Over HTTP too, a fault of a listing or of an answer costs only its part.
func TestOddServersOverHTTP(t *testing.T) {
	for _, stream := range []bool{false, true} {
		w := newWorld(t, func(c *mcp.Config) { c.Client = http.DefaultClient })
		t.Cleanup(http.DefaultClient.CloseIdleConnections)
		app := w.add(t, &aai.MCPRecipe{URL: oddServer(t, stream)})
		w.start(t, app)
		tool := w.tool(t, app, "tool_1")
		assert.Assert(t, tool != nil, "stream %v: the tool without a name: %+v", stream, tool)
		assert.Assert(t, tool.Run == nil, "stream %v: the tool without a name: %+v", stream, tool)
		r := w.must(t, app, "do", nil)
		assert.Check(t, is.Equal(r.Text, "a\nContent that the gateway cannot read: {\"type\": \"hologram\"}"), stream)
		assert.Check(t, is.Contains(r.Warning, `content[1] of the type "hologram"`), stream)
		b, err := json.Marshal(r.Data)
		assert.NilError(t, err, "%v %s", stream, b)
		assert.Equal(t, string(b), `{"n":9007199254740993}`, "%v %s", stream, b)
	}
}

// Redirects are not followed, and without web access nothing is reached.
func TestFarServersThatAreNone(t *testing.T) {
	address, _, _ := remoteServer(t)
	w := newWorld(t, func(c *mcp.Config) { c.Client = http.DefaultClient })
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	app := w.add(t, &aai.MCPRecipe{URL: address + "/elsewhere"})
	e := w.fails(t, aai.AppNotRunning, app, "mcp_start", nil)
	assert.Equal(t, e.Delivery, aai.NotDelivered, "%+v", e)
	none := mcp.New(mcp.Config{})
	_, err := none.Compile(&aai.Recipe{App: "a.b", MCP: &aai.MCPRecipe{URL: address}})
	assert.Check(t, is.Equal(aai.AsError(err).Code, aai.PermissionDenied), err)
	_, err = none.Compile(&aai.Recipe{App: "a.b"})
	assert.Check(t, is.Equal(aai.AsError(err).Code, aai.DescriptorInvalid), err)
}

// A flooding server at an address is limited like a process: excess messages are dropped, and
// finally the server is ended.
func TestFloodOverHTTP(t *testing.T) {
	server := sdk.NewServer(&sdk.Implementation{Name: "far", Version: "1"}, nil)
	type input struct {
		Times int `json:"times"`
	}
	sdk.AddTool(server, &sdk.Tool{Name: "talk"}, func(ctx context.Context, req *sdk.CallToolRequest, in input) (*sdk.CallToolResult, any, error) {
		for i := range in.Times {
			_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Progress: float64(i)})
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "talked"}}}, nil, nil
	})
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if !bytes.Contains(body, []byte(`"times":60000`)) {
			handler.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for range 600 {
			_, _ = io.WriteString(w, strings.Repeat("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"x\"}}\n\n", 100))
		}
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(func() { far.CloseClientConnections(); far.Close() })
	w := newWorld(t, func(c *mcp.Config) { c.Client = http.DefaultClient })
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	app := w.add(t, &aai.MCPRecipe{URL: far.URL})
	w.start(t, app)
	var heard atomic.Int64
	ctx := gateway.WithProgress(t.Context(), func(float64, float64, string) { heard.Add(1) })
	r, e := w.callIn(ctx, app, "talk", map[string]any{"times": 1000})
	assert.Assert(t, e == nil, "%+v %v", r, e)
	assert.Equal(t, r.Text, "talked", "%+v %v", r, e)
	n := heard.Load()
	assert.Check(t, n != 0, "of 1000 unrequested messages %d were heard", n)
	assert.Check(t, n < 1000, "of 1000 unrequested messages %d were heard", n)
	_, e = w.callIn(t.Context(), app, "talk", map[string]any{"times": 60000})
	assert.Assert(t, e != nil, "%+v", e)
	assert.Assert(t, is.Contains(e.Message, "unrequested messages"), "%+v", e)
	assert.Equal(t, e.Delivery, aai.DeliveryUnknown, "%+v", e)
}
