package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	door "github.com/gybob/aai-gateway/internal/doors/mcp"
)

// samplingApp is an app with a tool that asks the client's model, with a tool, until it has an answer.
func samplingApp(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
	a := aai.ClientCapabilitiesOf(ctx)
	if a.Sample == nil {
		return &aai.Result{Text: "nobody to ask"}, nil
	}
	ask := aai.SamplingRequest{
		System: "Be short.", MaxTokens: 100,
		Messages: []aai.Message{{Text: "What is it?", Images: []aai.Image{{MIME: "image/png", Data: []byte("PNG")}}}},
	}
	if a.SampleTools {
		ask.Tools = []aai.SampleTool{{Name: "zoom", Description: "Look closer", Params: json.RawMessage(`{"type":"object","properties":{"x":{"type":"integer"}}}`)}}
	}
	for {
		answer, err := a.Sample(ctx, ask)
		if err != nil {
			return nil, err
		}
		if len(answer.ToolUses) == 0 {
			return &aai.Result{Text: fmt.Sprintf("%s says %s (%s)", answer.Model, answer.Text, answer.StopReason)}, nil
		}
		outcome := aai.ToolResult{ID: answer.ToolUses[0].ID, Text: fmt.Sprintf("at %v", answer.ToolUses[0].Args["x"])}
		ask.Messages = append(ask.Messages, aai.Message{FromModel: true, ToolUses: answer.ToolUses}, aai.Message{ToolResults: []aai.ToolResult{outcome}})
	}
}

func callWork(t *testing.T, session *mcp.ClientSession) *mcp.CallToolResult {
	t.Helper()
	result, err := session.CallTool(t.Context(), callOf("org.example.Slow", "work", nil))
	assert.NilError(t, err)
	return result
}

func textIn(t *testing.T, result *mcp.CallToolResult) string {
	t.Helper()
	text, ok := result.Content[0].(*mcp.TextContent)
	assert.Assert(t, ok, "no text: %+v", result)
	return text.Text
}

// model is a model that first uses the tool.
func model(_ context.Context, r *mcp.CreateMessageWithToolsRequest) (*mcp.CreateMessageWithToolsResult, error) {
	answer := &mcp.CreateMessageWithToolsResult{Model: "m1", Role: "assistant", StopReason: "endTurn"}
	last := r.Params.Messages[len(r.Params.Messages)-1]
	if result, ok := last.Content[0].(*mcp.ToolResultContent); ok && result.ToolUseID == "u1" {
		answer.Content = []mcp.Content{&mcp.TextContent{Text: "a cat " + result.Content[0].(*mcp.TextContent).Text}}
		return answer, nil
	}
	image, ok := last.Content[1].(*mcp.ImageContent)
	if len(r.Params.Tools) != 1 || r.Params.Tools[0].Name != "zoom" || !ok || string(image.Data) != "PNG" || r.Params.SystemPrompt != "Be short." || r.Params.MaxTokens != 100 {
		return nil, errors.New("it was asked something else")
	}
	answer.StopReason = "toolUse"
	answer.Content = []mcp.Content{&mcp.ToolUseContent{ID: "u1", Name: "zoom", Input: map[string]any{"x": 3}}}
	return answer, nil
}

func TestAToolCanAskTheClientsModel(t *testing.T) {
	plain := func(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
		text, ok := r.Params.Messages[0].Content.(*mcp.TextContent)
		if _, image := r.Params.Messages[1].Content.(*mcp.ImageContent); !ok || !image || text.Text != "What is it?" {
			return nil, errors.New("it was asked something else")
		}
		return &mcp.CreateMessageResult{Model: "m0", Role: "assistant", StopReason: "maxTokens", Content: &mcp.TextContent{Text: "a dog"}}, nil
	}
	refusing := func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
		return nil, errors.New("the person said no")
	}
	for name, try := range map[string]struct {
		version string
		options *mcp.ClientOptions
		want    string
	}{
		"with tools":    {"2025-11-25", &mcp.ClientOptions{CreateMessageWithToolsHandler: model}, "m1 says a cat at 3 (endTurn)"},
		"without tools": {"2025-06-18", &mcp.ClientOptions{CreateMessageHandler: plain}, "m0 says a dog (maxTokens)"},
		"refused":       {"2025-11-25", &mcp.ClientOptions{CreateMessageHandler: refusing}, "AUTOMATION_FAILED: the client's model gave no answer: calling \"sampling/createMessage\": the person said no"},
		"none":          {"2025-11-25", nil, "nobody to ask"},
		"the newer era": {"2026-07-28", &mcp.ClientOptions{CreateMessageHandler: plain}, "nobody to ask"},
	} {
		for _, transport := range []string{"stdio", "http"} {
			t.Run(name+" over "+transport, func(t *testing.T) {
				w := newWorld(t, adding(slowly(samplingApp)))
				var session *mcp.ClientSession
				if transport == "stdio" {
					session = w.connect(t, try.version, try.options)
				} else {
					session = w.serve(t).connectHTTP(t, try.version, "", try.options)
				}
				assert.Check(t, is.Equal(textIn(t, callWork(t, session)), try.want))
			})
		}
	}
}

// TestRoots checks that a client's roots are requested once, until it reports a change.
func TestRoots(t *testing.T) {
	folder := t.TempDir()
	w := newWorld(t, adding(slowly(rootsTool)))
	asked := make(chan struct{}, 10)
	client := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "0"}, nil)
	client.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method == "roots/list" {
				asked <- struct{}{}
			}
			return next(ctx, method, r)
		}
	})
	client.AddRoots(&mcp.Root{URI: "file://" + filepath.ToSlash(folder), Name: "project"},
		&mcp.Root{URI: "https://example.com/x"}, &mcp.Root{URI: "file://elsewhere/x"}, &mcp.Root{URI: "file:relative"})
	session := w.connectClient(t, "2025-11-25", client)
	want := fmt.Sprintf("[{%s project}]", folder)
	for range 3 {
		got := textIn(t, callWork(t, session))
		assert.Check(t, is.Equal(got, want), "the folders are %q, want %q", got, want)
	}
	assert.Check(t, is.Equal(len(asked), 1), "the client was asked %d times", len(asked))
	client.AddRoots(&mcp.Root{URI: "file://" + filepath.ToSlash(folder) + "/more%20dir", Name: "more"})
	eventually(t, "the new folder is known", func() bool {
		got := textIn(t, callWork(t, session))
		return strings.Contains(got, want[1:len(want)-1]) && strings.Contains(got, "{"+filepath.Join(folder, "more dir")+" more}")
	})
	assert.Check(t, is.Equal(len(asked), 2), "the client was asked %d times", len(asked))
}

// TestProjectFolder checks that the configured folder is the root of clients that have none, and of no others.
func TestProjectFolder(t *testing.T) {
	folder := t.TempDir()
	none := &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}
	for name, try := range map[string]struct {
		version    string
		configured string
		options    *mcp.ClientOptions
		roots      []*mcp.Root
		want       string
	}{
		"no roots":              {"2025-11-25", folder, none, nil, "[{" + folder + " " + filepath.Base(folder) + "}]"},
		"no roots, newer":       {"2026-07-28", folder, none, nil, "[{" + folder + " " + filepath.Base(folder) + "}]"},
		"an empty list":         {"2025-11-25", folder, nil, nil, "[{" + folder + " " + filepath.Base(folder) + "}]"},
		"a root of the client":  {"2025-11-25", folder, nil, []*mcp.Root{{URI: "file:///work", Name: "work"}}, "[{/work work}]"},
		"nothing is configured": {"2025-11-25", "", none, nil, "no folders"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, adding(slowly(rootsTool)), with(func(c *door.Config) { c.ProjectFolder = try.configured }))
			client := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "0"}, try.options)
			client.AddRoots(try.roots...)
			got := textIn(t, callWork(t, w.connectClient(t, try.version, client)))
			assert.Check(t, is.Equal(got, try.want), "the folders are %q, want %q", got, try.want)
		})
	}
}

// loginRequiredApp is a tool of an app that requires a login.
func loginRequiredApp(page string) aai.Action {
	return func(context.Context, *aai.Call) (*aai.Result, error) {
		return nil, &aai.Error{Code: aai.AuthRequired, Message: "nobody is logged in", Hint: "Log in.", LoginURL: page, Delivery: aai.NotDelivered}
	}
}

// TestThePersonIsSentToLogIn tests the person's responses to a request to open a page, and the
// resulting hints for the model.
func TestThePersonIsSentToLogIn(t *testing.T) {
	const page = "https://example.com/login?app=x"
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		for action, hint := range map[string]string{
			"accept": "Repeat the call", "decline": "does not want to open", "cancel": "closed the question",
		} {
			for _, transport := range []string{"stdio", "http"} {
				t.Run(version+" "+action+" over "+transport, func(t *testing.T) {
					w := newWorld(t, adding(slowly(loginRequiredApp(page))))
					var asked []*mcp.ElicitParams
					options := &mcp.ClientOptions{
						Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}},
						ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
							asked = append(asked, r.Params)
							return &mcp.ElicitResult{Action: action}, nil
						},
					}
					session := w.connect
					if transport == "http" {
						session = func(t *testing.T, version string, options *mcp.ClientOptions) *mcp.ClientSession {
							return w.serve(t).connectHTTP(t, version, "", options)
						}
					}
					result := callWork(t, session(t, version, options))
					assert.Assert(t, is.Len(asked, 1))
					assert.Equal(t, asked[0].Mode, "url")
					assert.Equal(t, asked[0].URL, page)
					assert.Assert(t, asked[0].ElicitationID != "", "the person was asked %+v", asked)
					assert.Equal(t, asked[0].Message, "nobody is logged in")
					text := textIn(t, result)
					assert.Assert(t, result.IsError, "the model is told %q", text)
					assert.Assert(t, strings.HasPrefix(text, "AUTH_REQUIRED"), "the model is told %q", text)
					assert.Assert(t, is.Contains(text, hint))
					content, _ := result.StructuredContent.(map[string]any)
					assert.Check(t, is.Equal(content["elicitation"], action), "the answer is %v in the data", content["elicitation"])
				})
			}
		}
	}
}

// TestPagesThatAreNotShown: for clients without URL elicitation, and for unsafe pages, the model gets
// the page's address, and the person is not asked.
func TestPagesThatAreNotShown(t *testing.T) {
	pages := map[string]bool{"https://example.com/": true, "http://127.0.0.1:8000/login": true, "http://localhost:1/": true} // whether a capable client shows it
	for _, page := range []string{"http://example.com/", "javascript:alert(1)", "file:///etc/passwd", "https://user:secret@example.com/", "https://", "https://a b/"} {
		pages[page] = false
	}
	for page, shown := range pages {
		for _, canShow := range []bool{true, false} {
			w := newWorld(t, adding(slowly(loginRequiredApp(page))))
			asked := 0
			caps := &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}}
			if canShow {
				caps.URL = &mcp.URLElicitationCapabilities{}
			}
			result := callWork(t, w.connect(t, "2025-11-25", &mcp.ClientOptions{
				Capabilities: &mcp.ClientCapabilities{Elicitation: caps},
				ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					asked++
					return &mcp.ElicitResult{Action: "accept"}, nil
				},
			}))
			want := shown && canShow
			assert.Check(t, is.Equal((asked == 1), want), "%s %v %d", page, canShow, asked)
			assert.Check(t, asked <= 1, "%s, which is shown by those who can: %v, was shown %d times", page, canShow, asked)
			if !result.IsError || !strings.Contains(textIn(t, result), "AUTH_REQUIRED") {
				t.Errorf("%s: the model is told %q", page, textIn(t, result))
			}
		}
	}
}
