package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
)

// MCP deprecates sampling since version 2026-07-28, and keeps it for a time (SEP-2577).

// sample asks the client's model.
func sample(ctx context.Context, session *mcp.ServerSession, ask aai.SamplingRequest, tools bool) (*aai.SamplingResult, error) {
	params, err := samplingParams(ask, tools)
	if err != nil {
		return nil, err
	}
	answer, err := session.CreateMessageWithTools(ctx, params)
	if err != nil {
		e := aai.Errorf(aai.AutomationFailed, "the client's model gave no answer: %w", err)
		if ctx.Err() != nil {
			e.Code = aai.AsError(ctx.Err()).Code
		}
		e.Delivery = aai.NotDelivered
		return nil, e
	}
	return samplingResult(answer), nil
}

// samplingParams converts a request for the client's model to MCP.
func samplingParams(ask aai.SamplingRequest, tools bool) (*mcp.CreateMessageWithToolsParams, error) {
	if ask.MaxTokens < 1 || len(ask.Messages) == 0 {
		return nil, aai.Errorf(aai.Internal, "a model's request needs a message and at least one token")
	}
	params := &mcp.CreateMessageWithToolsParams{MaxTokens: int64(ask.MaxTokens), SystemPrompt: ask.System}
	for _, m := range ask.Messages {
		params.Messages = append(params.Messages, samplingMessages(m, tools)...)
	}
	if len(ask.Tools) > 0 {
		if !tools {
			return nil, aai.Errorf(aai.AutomationNotSupported, "the client's model takes no tools")
		}
		for _, t := range ask.Tools {
			params.Tools = append(params.Tools, &mcp.Tool{Name: t.Name, Description: t.Description, InputSchema: t.Params})
		}
		params.ToolChoice = &mcp.ToolChoice{Mode: "auto"}
	}
	return params, nil
}

// samplingResult converts an answer of the client's model.
func samplingResult(answer *mcp.CreateMessageWithToolsResult) *aai.SamplingResult {
	sampled := &aai.SamplingResult{Model: answer.Model, StopReason: answer.StopReason}
	for _, content := range answer.Content {
		switch c := content.(type) {
		case *mcp.TextContent:
			sampled.Text += c.Text
		case *mcp.ImageContent:
			sampled.Images = append(sampled.Images, aai.Image{MIME: c.MIMEType, Data: c.Data})
		case *mcp.ToolUseContent:
			sampled.ToolUses = append(sampled.ToolUses, aai.ToolUse{ID: c.ID, Name: c.Name, Args: c.Input})
		}
	}
	return sampled
}

// samplingMessages converts a message to MCP. Clients without tools accept only one content
// item in each message.
func samplingMessages(m aai.Message, tools bool) []*mcp.SamplingMessageV2 {
	out := &mcp.SamplingMessageV2{Role: "user", Content: []mcp.Content{}}
	if m.FromModel {
		out.Role = "assistant"
	}
	for _, o := range m.ToolResults {
		out.Content = append(out.Content, &mcp.ToolResultContent{
			ToolUseID: o.ID, IsError: o.Failed, Content: []mcp.Content{&mcp.TextContent{Text: o.Text}},
		})
	}
	if m.Text != "" {
		out.Content = append(out.Content, &mcp.TextContent{Text: m.Text})
	}
	for _, image := range m.Images {
		out.Content = append(out.Content, &mcp.ImageContent{MIMEType: image.MIME, Data: image.Data})
	}
	for _, u := range m.ToolUses {
		out.Content = append(out.Content, &mcp.ToolUseContent{ID: u.ID, Name: u.Name, Input: u.Args})
	}
	if tools {
		return []*mcp.SamplingMessageV2{out}
	}
	var single []*mcp.SamplingMessageV2
	for _, content := range out.Content {
		single = append(single, &mcp.SamplingMessageV2{Role: out.Role, Content: []mcp.Content{content}})
	}
	return single
}

// sampleRequest begins the names of requests for the client's model; the digest of the request follows.
const sampleRequest = "aai.sample."

// repeatedForSample are the desktop's tools that are run again with the answer of the client's model: they only read.
func repeatedForSample() []string { return []string{"ax_ask_model", "ax_find_visual"} }

// sampleInRounds gives tools that only read the model of a stateless client. The call ends with the request, and the
// client repeats it with the answer. The answer counts only for an equal request, so for an equal picture.
func sampleInRounds(req *mcp.CallToolRequest, call *aai.Call, needs *asking) func(context.Context, aai.SamplingRequest) (*aai.SamplingResult, error) {
	if call.App != aai.DesktopApp || !slices.Contains(repeatedForSample(), call.Tool) || !capabilitiesOf(req).samples || len(call.Answers) > 0 {
		return nil
	}
	return func(_ context.Context, ask aai.SamplingRequest) (*aai.SamplingResult, error) {
		params, err := samplingParams(ask, false)
		if err != nil {
			return nil, err
		}
		encoded, err := json.Marshal(params)
		if err != nil {
			return nil, aai.Errorf(aai.Internal, "the request for the client's model cannot be encoded: %w", err)
		}
		digest := sha256.Sum256(encoded)
		name := sampleRequest + hex.EncodeToString(digest[:])
		if answer, is := req.Params.InputResponses[name].(*mcp.CreateMessageWithToolsResult); is && answer != nil {
			return samplingResult(answer), nil
		}
		e := aai.Errorf(aai.AutomationFailed, "the client's model gave no answer to this question; the window may have changed meanwhile")
		e.Delivery = aai.NotDelivered
		if len(req.Params.InputResponses) == 0 {
			e.Message = "the client's model is asked; the client repeats the call with the answer"
			needs.sample.Store(&mcp.InputRequestMap{name: params})
		}
		return nil, e
	}
}
