package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
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

// modernServer is a server of the newer protocol version: it asks for input in its results, and
// allows caching for an hour.
func modernServer() *sdk.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: "modern", Version: "1"}, nil)
	object := map[string]any{"type": "object"}
	said := func(words string) *sdk.CallToolResult {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: words}}}
	}
	server.AddTool(&sdk.Tool{Name: "era", InputSchema: object}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return said(fmt.Sprint(r.Params.Meta[sdk.MetaKeyProtocolVersion], " ", r.Params.Meta["progressToken"] != nil)), nil
	})
	server.AddTool(&sdk.Tool{Name: "grow", InputSchema: object}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		server.AddTool(&sdk.Tool{Name: "grown", InputSchema: object}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return said("has grown"), nil
		})
		return said("grows"), nil
	})
	server.AddTool(&sdk.Tool{Name: "ask", InputSchema: object}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var args struct{ Wants []string }
		_ = json.Unmarshal(r.Params.Arguments, &args)
		if slices.Equal(args.Wants, []string{"busy"}) {
			if args.Wants = nil; r.Params.RequestState == "" {
				args.Wants = []string{"forever"}
			}
		}
		if wants := wanted(args.Wants, r.Params.InputResponses); wants != nil {
			return &sdk.CallToolResult{InputRequests: wants, RequestState: r.Params.RequestState + "."}, nil
		}
		got, _ := json.Marshal(r.Params.InputResponses)
		return said(r.Params.RequestState + " " + string(got)), nil
	})
	var read atomic.Int64
	server.AddResource(&sdk.Resource{Name: "count", URI: "test://count"}, func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{
			Contents:  []*sdk.ResourceContents{{URI: r.Params.URI, Text: fmt.Sprint("read ", read.Add(1))}},
			Cacheable: sdk.Cacheable{TTLMs: 3_600_000},
		}, nil
	})
	server.AddResource(&sdk.Resource{Name: "asks", URI: "test://asks"}, func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		if wants := wanted([]string{"elicitation"}, r.Params.InputResponses); wants != nil {
			return &sdk.ReadResourceResult{InputRequests: wants, Cacheable: sdk.Cacheable{TTLMs: 3_600_000}}, nil
		}
		got, _ := json.Marshal(r.Params.InputResponses)
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, Text: string(got)}}}, nil
	})
	server.AddPrompt(&sdk.Prompt{Name: "asks"}, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		if wants := wanted([]string{"elicitation"}, r.Params.InputResponses); wants != nil {
			return &sdk.GetPromptResult{InputRequests: wants}, nil
		}
		got, _ := json.Marshal(r.Params.InputResponses)
		return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: string(got)}}}}, nil
	})
	return server
}

// wanted returns requests of the kinds, without the answered ones.
func wanted(kinds []string, answers sdk.InputResponseMap) sdk.InputRequestMap {
	wants := sdk.InputRequestMap{}
	for i, kind := range kinds {
		form := &sdk.ElicitParams{Mode: "form", Message: "Do you want it?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}}}
		switch kind {
		case "sampling":
			wants[fmt.Sprint(i, kind)] = &sdk.CreateMessageParams{MaxTokens: 9, Messages: []*sdk.SamplingMessage{{Role: "user", Content: &sdk.TextContent{Text: "a word for rain"}}}}
			continue
		case "roots":
			wants[fmt.Sprint(i, kind)] = &sdk.ListRootsParams{}
			continue
		case "forever":
			return sdk.InputRequestMap{}
		case "page":
			form = &sdk.ElicitParams{Mode: "url", Message: "Do you want it?", URL: "https://example.com/", ElicitationID: "1"}
		case "count":
			form.RequestedSchema = map[string]any{"type": "object", "properties": map[string]any{"n": map[string]any{"type": "integer", "maximum": 5}}, "required": []string{"n"}}
		}
		wants[fmt.Sprint(i, kind)] = form
	}
	if len(kinds) > 0 && kinds[0] != "again" && len(answers) > 0 || len(wants) == 0 {
		return nil
	}
	return wants
}

// modernWorlds runs the test with a server of the newer version, over both transports.
func modernWorlds(t *testing.T, test func(t *testing.T, w *world, app string)) {
	t.Run("stdio", func(t *testing.T) {
		w := worldWithPerson(t)
		test(t, w, w.hostile(t, "modern"))
	})
	t.Run("HTTP", func(t *testing.T) {
		server := modernServer()
		far := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{Stateless: true}))
		t.Cleanup(func() { far.CloseClientConnections(); far.Close(); http.DefaultClient.CloseIdleConnections() })
		w := worldWithPerson(t, func(c *mcp.Config) { c.Client = http.DefaultClient })
		test(t, w, w.add(t, &aai.MCPRecipe{URL: far.URL}))
	})
}

// A server of the newer version works like any other: change notifications count, and cache
// lifetimes do not.
func TestModern(t *testing.T) {
	modernWorlds(t, func(t *testing.T, w *world, app string) {
		w.start(t, app)
		assert.Check(t, is.Equal(w.must(t, app, "era", nil).Text, "2026-07-28 true"))
		assert.Assert(t, w.tool(t, app, "grown") == nil, "it has grown before")
		w.must(t, app, "grow", nil)
		eventually(t, "the tool that it said it has", func() bool { return w.tool(t, app, "grown") != nil })
		assert.Check(t, is.Equal(w.must(t, app, "grown", nil).Text, "has grown"))
		for i := 1; i <= 2; i++ {
			got := w.must(t, app, "resource_read", map[string]any{"uri": "test://count"}).Text
			assert.Check(t, strings.HasSuffix(got, fmt.Sprint("read ", i)), "the %d. time it gave %q", i, got)
		}
	})
}

// An input request without the user's permission is refused before any question, and the caller
// reads that.
func TestModernAsksUnallowed(t *testing.T) {
	modernWorlds(t, func(t *testing.T, w *world, app string) {
		w.start(t, app)
		asked := 0
		ctx := client(t, aai.ClientCapabilities{
			Elicit: func(context.Context, aai.Form) (*aai.FormAnswer, error) {
				asked++
				return &aai.FormAnswer{Action: "accept"}, nil
			},
			Sample: func(context.Context, aai.SamplingRequest) (*aai.SamplingResult, error) {
				asked++
				return &aai.SamplingResult{Text: "x"}, nil
			},
		})
		refused := func(e *aai.Error, words ...string) {
			t.Helper()
			if e == nil || e.Code != aai.PermissionDenied || e.Delivery != aai.Delivered || !strings.Contains(e.Hint, "mcp trust "+app) {
				t.Errorf("%+v", e)
				return
			}
			for _, word := range words {
				assert.Check(t, is.Contains(e.Message, word), "%q does not say %q", e.Message, word)
			}
		}
		for kind, what := range map[string]string{"elicitation": "the person's answer", "sampling": "a model's text", "roots": "the client's folders"} {
			_, e := w.callIn(ctx, app, "ask", map[string]any{"wants": []any{kind}})
			refused(e, "asked for "+what+" before it continues", "the person has not allowed it")
		}
		_, e := w.callIn(ctx, app, "resource_read", map[string]any{"uri": "test://asks"})
		refused(e, "the person's answer")
		_, e = w.callIn(ctx, app, "prompt_get", map[string]any{"name": "asks"})
		refused(e, "the person's answer")
		w.trust(t, app, "elicitation")
		_, e = w.callIn(ctx, app, "ask", map[string]any{"wants": []any{"elicitation", "sampling"}})
		refused(e, "a model's text and the person's answer")
		assert.Check(t, is.Equal(asked, 0), "%d times somebody was asked", asked)
	})
}

// A permitted input request goes to the client of its call, even with two active calls, and
// returns with the server's state, within the limits.
func TestModernAsksAllowed(t *testing.T) {
	modernWorlds(t, func(t *testing.T, w *world, app string) {
		w.start(t, app)
		w.trust(t, app, "elicitation", "sampling")
		both := make(chan struct{}, 4)
		as := func(name string, values map[string]any) context.Context {
			return client(t, aai.ClientCapabilities{
				Elicit: func(_ context.Context, f aai.Form) (*aai.FormAnswer, error) {
					assert.Check(t, is.Contains(f.Message, "asks this, not the gateway:\n"+aai.QuoteMark+"Do you want it?"))
					return &aai.FormAnswer{Action: "accept", Values: values}, nil
				},
				Sample: func(ctx context.Context, _ aai.SamplingRequest) (*aai.SamplingResult, error) {
					for both <- struct{}{}; len(both) < 2; time.Sleep(time.Millisecond) { // two calls are active
						if ctx.Err() != nil {
							return nil, ctx.Err()
						}
					}
					return &aai.SamplingResult{Model: "small", Text: "drizzle for " + name}, nil
				},
			})
		}
		ask := func(ctx context.Context, kinds ...any) string {
			r, e := w.callIn(ctx, app, "ask", map[string]any{"wants": kinds})
			if e != nil {
				return e.Message
			}
			return r.Text + r.Warning
		}
		w.must(t, app, "ask", nil) // the user allows the tool permanently
		got := make(chan string)
		for _, name := range []string{"Ann", "Ben"} {
			ctx := as(name, nil)
			go func() {
				text := ask(ctx, "elicitation", "sampling")
				both <- struct{}{} // for calls that have ended
				got <- name + ": " + text
			}()
		}
		for range 2 {
			name, text, _ := strings.Cut(<-got, ": ")
			assert.Assert(t, strings.HasPrefix(text, ". "), "%s %s", name, text)
			assert.Assert(t, is.Contains(text, `"action":"accept"`), name)
			assert.Assert(t, is.Contains(text, "drizzle for "+name), name)
		}
		for _, c := range []struct {
			kind   string
			values map[string]any
			want   string
		}{
			{"count", map[string]any{"n": 3}, `"n":3`},
			{"count", map[string]any{"n": 7}, "does not match its form"},
			{"page", nil, "open a page"},
			{"again", nil, "asked the person 3 times"},
			{"busy", nil, ". null"},
			{"forever", nil, "asked 4 times for a later retry"},
		} {
			text := ask(as("Ann", c.values), c.kind)
			assert.Check(t, is.Contains(text, c.want), "%s %v: %q does not say %q", c.kind, c.values, text, c.want)
		}
		for tool, args := range map[string]map[string]any{"resource_read": {"uri": "test://asks"}, "prompt_get": {"name": "asks"}} {
			r, e := w.callIn(as("Ann", nil), app, tool, args)
			assert.Assert(t, e == nil, "%s %+v %v", tool, r, e)
			assert.Assert(t, is.Contains(r.Text, `"action":"accept"`), "%s %+v %v", tool, r, e)
		}
	})
}
