package mcp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// askTool asks the client's model about the argument text.
func askTool(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	sample := aai.ClientCapabilitiesOf(ctx).Sample
	if sample == nil {
		return &aai.Result{Text: "no model"}, nil
	}
	text, _ := call.Args["text"].(string)
	got, err := sample(ctx, aai.SamplingRequest{MaxTokens: 5, Messages: []aai.Message{{Text: text}}})
	if err != nil {
		return nil, err
	}
	return &aai.Result{Text: got.Text}, nil
}

// TestModelInRounds: a stateless client gets the question in the result of the call. Its answer counts for an equal question
// only, and no other tool is run twice.
func TestModelInRounds(t *testing.T) {
	const knowsModels = `{"sampling":{}}`
	call := func(tool, text string) string {
		return fmt.Sprintf(`{"name":"aai_exec","arguments":{"app":"desktop","tool":%q,"args":{"text":%q}}}`, tool, text)
	}
	w := newWorld(t, adding(&aai.App{ID: aai.DesktopApp, Name: "Desktop", Tools: []*aai.Tool{tool("ax_ask_model", aai.Reads, askTool), tool("ax_click", aai.Reads, askTool)}}))
	c := w.dial(t)
	r := c.ask("tools/call", modern(call("ax_ask_model", "a"), "", knowsModels)).result(t)
	assert.Equal(t, r.ResultType, "input_required", "%+v", r)
	assert.Assert(t, is.Len(r.InputRequests, 1), "%+v", r)
	name := ""
	for key, request := range r.InputRequests {
		name = key
		assert.Check(t, is.Equal(request.Method, "sampling/createMessage"), "%s %+v", key, request)
		assert.Check(t, strings.HasPrefix(key, "aai.sample."), "the request %s is %+v", key, request)
	}
	answer := fmt.Sprintf(`"inputResponses":{%q:{"role":"assistant","model":"m","content":{"type":"text","text":"yes"}}},`, name)
	for about, want := range map[string]string{"a": "yes", "b": "AUTOMATION_FAILED"} {
		r := c.ask("tools/call", modern(call("ax_ask_model", about), answer, knowsModels)).result(t)
		text := r.Content[0].Text
		assert.Check(t, strings.HasPrefix(text, want), "the answer to a for %s gave %q, want %q", about, text, want)
	}
	for _, other := range []string{
		modern(call("ax_click", "a"), "", knowsModels), modern(call("ax_ask_model", "a"), "", `{}`),
	} {
		assert.Check(t, is.Equal(c.ask("tools/call", other).result(t).Content[0].Text, "no model"), other)
	}
}
