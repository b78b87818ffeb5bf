package mcp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/drivers/mcp"
)

// A list that is too long, or does not end, costs the tools after the limit.
func TestListsThatDoNotEnd(t *testing.T) {
	for kind, want := range map[string]struct {
		tools int
		rest  string
	}{
		"many":      {1000, "the server lists more than 1000 tools"},
		"endless":   {100, "the server's list has more than 100 pages"},
		"round":     {2, "page 2 of the server's list names a page that was already read"},
		"bad page":  {2, `sent an answer that cannot be read: tools is a string, in "{'tools':'none'}"`},
		"late fail": {2, `answered with error -32000: "the page is gone"`},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			app := w.hostile(t, kind)
			r := w.must(t, app, "mcp_start", nil)
			assert.Assert(t, is.Contains(r.Warning, "tools are missing: "))
			assert.Assert(t, is.Contains(r.Warning, want.rest))
			listed := w.Catalog.Apps()[0]
			assert.Assert(t, is.Len(listed.Tools, want.tools))
			assert.Assert(t, is.Contains(listed.Description, want.rest))
			r = w.must(t, app, listed.Tools[0].Name, nil)
			assert.Check(t, is.Equal(r.Text, "done"), "%+v", r)
		})
	}
}

// An answer in another form than the protocol's is read as far as possible, or reported with its beginning.
func TestUnreadableAnswers(t *testing.T) {
	for _, c := range []struct{ kind, text, warning, err string }{
		{"byte order mark", "done", "", ""},
		{"text id", "done", "", ""},
		{"future", `a` + "\n" + `Content that the gateway cannot read: {"data":"zz","type":"hologram"}`, `content[1] of the type "hologram" cannot be read`, ""},
		{"nonsense", "no list", "its content is no list", ""},
		{"nan", "", "", `sent an answer that cannot be read: "{'jsonrpc': '2.0', 'id': `},
		{"half", "", "", `sent an answer that cannot be read: "{'jsonrpc': '2.0', 'result': {"`},
		{"no result", "", "", `sent an answer that cannot be read: `},
	} {
		t.Run(c.kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			app := w.hostile(t, c.kind)
			w.start(t, app)
			r, e := w.call(t, app, "do", nil)
			assert.Check(t, is.Equal((e == nil), (c.err == "")), "%v %q", e, c.err)
			assert.Check(t, e == nil || strings.Contains(e.Message, c.err) && e.Delivery == aai.Delivered, "%v %q", e, c.err)
			if e == nil && (r.Text != c.text || !strings.Contains(r.Warning, c.warning) || (c.warning == "") != (r.Warning == "")) {
				t.Errorf("%q, warning %q", r.Text, r.Warning)
			}
			_, e = w.call(t, app, "other", nil)
			assert.Check(t, c.err == "" || e != nil && e.Code != aai.AppNotRunning, "the server was ended: %v", e)
		})
	}
}

// A call that ends before its task cancels the task.
func TestTaskIsCancelled(t *testing.T) {
	w := newWorld(t)
	file := filepath.Join(t.TempDir(), "cancelled")
	app := w.hostile(t, "task", file)
	w.start(t, app)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan *aai.Error)
	go func() {
		_, e := w.callIn(ctx, app, "do", nil)
		ended <- e
	}()
	eventually(t, "the state of the task is asked for", func() bool {
		_, err := os.Stat(file + ".asked")
		return err == nil
	})
	cancel()
	e := <-ended
	assert.Assert(t, e != nil, "%+v", e)
	assert.Equal(t, e.Delivery, aai.DeliveryUnknown, "%+v", e)
	eventually(t, "the task is cancelled", func() bool {
		b, err := os.ReadFile(file + ".task")
		return err == nil && string(b) == "t1"
	})
}

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
	result := w.must(t, app, "less", nil)
	assert.Assert(t, is.Len(result.Data.(map[string]any)["a"].([]any), 1000), "%+v", result)
	assert.Check(t, is.Equal(opened.Load(), before), "the session has ended")
}

// madeSchemas are schemas as libraries make them, with values and the verdict of another validator;
// scripts/make-schemas makes them.
const madeSchemas = "testdata/schemas/made.json"

type madeSchema struct {
	From, Name     string
	Schema         json.RawMessage
	Valid, Invalid []map[string]any
}

func readMadeSchemas(file string) (all []madeSchema, err error) {
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	return all, err
}

// tool is the name of the tool with the schema.
func (s madeSchema) tool() string { return s.From + "/" + s.Name }

// Every tool of a server is offered, whatever library made its schema. Valid arguments reach the server
// unchanged; invalid ones are refused here, or by the server where the guide says so.
func TestSchemasOfLibraries(t *testing.T) {
	w := newWorld(t)
	file, err := filepath.Abs(madeSchemas)
	assert.NilError(t, err)
	app := w.hostile(t, "schemas", file)
	w.start(t, app)
	all, err := readMadeSchemas(file)
	assert.NilError(t, err, "%d", len(all))
	assert.Assert(t, len(all) >= 35, "%d schemas, %v", len(all), err)
	refused, passed := 0, 0
	for _, s := range all {
		name := strings.NewReplacer("/", "_", " ", "_").Replace(s.tool())
		tool := w.tool(t, app, name)
		if tool == nil {
			t.Errorf("%s is not offered", s.tool())
			continue
		}
		for _, args := range s.Valid {
			r, e := w.call(t, app, name, args)
			want, _ := json.Marshal(args)
			if e != nil || r.Text != s.tool()+" "+string(want) {
				t.Errorf("%s: %s: %+v, %v", s.tool(), want, r, e)
			}
		}
		for _, args := range s.Invalid {
			_, e := w.call(t, app, name, args)
			switch {
			case e != nil && e.Code == aai.InvalidParams:
				refused++
			case e != nil:
				t.Errorf("%s: %v: %v", s.tool(), args, e)
			case len(tool.Params.Unchecked) == 0 && !strings.Contains(string(tool.Params.Source), `"format"`):
				t.Errorf("%s: %v is passed on, and the guide does not say why", s.tool(), args)
			default:
				passed++
			}
		}
	}
	t.Logf("of the invalid arguments %d were refused, %d passed on", refused, passed)
	assert.Check(t, refused >= 40, "only %d invalid arguments were refused", refused)
}
