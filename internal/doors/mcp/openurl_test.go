package mcp_test

import (
	"context"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

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
