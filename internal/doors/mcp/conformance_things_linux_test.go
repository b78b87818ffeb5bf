package mcp_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"

	door "github.com/gybob/aai-gateway/internal/doors/mcp"
	"github.com/gybob/aai-gateway/internal/doors/mcp/tasks"
)

// The tools that the conformance suite calls. The suite's descriptions of its scenarios define their
// behaviour.

// A pixel and a silence: the smallest files of their types.
const (
	pixelPNG   = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
	silenceWAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
)

func decoded(t *testing.T, text string) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(text)
	assert.NilError(t, err)
	return b
}

// A handler is a fixture's tool without the rarely used parameters.
type handler = func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error)

func says(content ...mcp.Content) handler {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: content}, nil
	}
}

func text(format string, args ...any) *mcp.TextContent {
	return &mcp.TextContent{Text: fmt.Sprintf(format, args...)}
}

func answered(format string, args ...any) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{text(format, args...)}}, nil
}

func embedded(uri string) *mcp.EmbeddedResource {
	return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "This is an embedded resource"}}
}

// anyObject is the schema of tools that read their arguments themselves.
func anyObject(properties string) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{` + properties + `}}`)
}

func addTools(server *mcp.Server, tools map[string]handler) {
	for name, h := range tools {
		server.AddTool(&mcp.Tool{Name: name, Description: "A fixture of the conformance suite.", InputSchema: anyObject("")}, h)
	}
}

func addConformanceTools(t *testing.T, server *mcp.Server) {
	image := &mcp.ImageContent{Data: decoded(t, pixelPNG), MIMEType: "image/png"}
	addTools(server, map[string]handler{
		"test_simple_text":            says(text("This is a simple text response for testing.")),
		"test_image_content":          says(image),
		"test_audio_content":          says(&mcp.AudioContent{Data: decoded(t, silenceWAV), MIMEType: "audio/wav"}),
		"test_embedded_resource":      says(embedded("test://embedded-resource")),
		"test_multiple_content_types": says(text("Text"), image, embedded("test://mixed-content-resource")),
		"test_error_handling": func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			failed := &mcp.CallToolResult{}
			failed.SetError(errors.New("this tool intentionally returns an error for testing"))
			return failed, nil
		},
		"test_tool_with_logging":     logThreeTimes,
		"test_tool_with_progress":    reportProgress,
		"test_sampling":              sample,
		"test_elicitation":           elicitName,
		"test_reconnection":          closeStream,
		"test_streaming_elicitation": says(text("nothing was asked")),
		"test_logging_tool": func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if err := req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: "logged"}); err != nil {
				return nil, err
			}
			return answered("logged")
		},
		"test_missing_capability":    needSampling,
		"test_trigger_tool_change":   changeTools(server),
		"test_trigger_prompt_change": changePrompts(server),
		"test_elicitation_sep1034_defaults": elicit(`"name":{"type":"string","default":"John Doe"},
			"age":{"type":"integer","default":30},"score":{"type":"number","default":95.5},
			"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},
			"verified":{"type":"boolean","default":true}`),
		"test_elicitation_sep1330_enums": elicit(`"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
			"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
			"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
			"untitledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"type":"string","enum":["option1","option2","option3"]}},
			"titledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}`),
	})
	server.AddTool(&mcp.Tool{
		Name: "json_schema_2020_12_tool", Description: "Has a schema that must arrive as it is.", InputSchema: json.RawMessage(schema2020),
	}, says(text("called")))
	server.AddTool(&mcp.Tool{
		Name: "test_x_mcp_header", Description: "Has an argument that a header repeats.",
		InputSchema: anyObject(`"region":{"type":"string","x-mcp-header":"Region"},"level":{"type":"integer"}`),
	}, says(text("called")))
}

const schema2020 = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
	"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
	"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},
		"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},
	"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
	"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},
	"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}`

func logThreeTimes(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	for _, line := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		if err := req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: line}); err != nil {
			return nil, err
		}
	}
	return answered("logged")
}

func reportProgress(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	token := req.Params.GetProgressToken()
	for _, done := range []float64{0, 50, 100} {
		if err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: 100}); err != nil {
			return nil, err
		}
	}
	return answered("%v", token)
}

func sample(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var in struct{ Prompt string }
	if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
		return nil, err
	}
	result, err := req.Session.CreateMessage(ctx, &mcp.CreateMessageParams{
		MaxTokens: 100, Messages: []*mcp.SamplingMessage{{Role: "user", Content: text("%s", in.Prompt)}},
	})
	if err != nil {
		return nil, err
	}
	said, _ := result.Content.(*mcp.TextContent)
	return answered("LLM response: %s", said.Text)
}

func elicitName(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return elicit(`"username":{"type":"string"}`)(ctx, req)
}

func elicit(properties string) handler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Please say.", RequestedSchema: anyObject(properties)})
		if err != nil {
			return nil, err
		}
		return answered("Elicitation result: action=%s, content=%v", result.Action, result.Content)
	}
}

func closeStream(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if req.Extra != nil && req.Extra.CloseSSEStream != nil {
		req.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
	}
	return pause(ctx, 100*time.Millisecond, "done")
}

// pause answers after a while, unless it is cancelled.
func pause(ctx context.Context, while time.Duration, answer string) (*mcp.CallToolResult, error) {
	select {
	case <-time.After(while):
		return answered("%s", answer)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func needSampling(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if caps := req.ClientCapabilities(); caps != nil && caps.Sampling != nil {
		return answered("the client can sample")
	}
	return nil, &jsonrpc.Error{
		Code: mcp.CodeMissingRequiredClientCapabilities, Message: "the client cannot sample",
		Data: json.RawMessage(`{"requiredCapabilities":{"sampling":{}}}`),
	}
}

func changeTools(server *mcp.Server) handler {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		addTools(server, map[string]handler{"transient_tool": says(text("here"))})
		return answered("changed")
	}
}

func changePrompts(server *mcp.Server) handler {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		server.AddPrompt(&mcp.Prompt{Name: "transient_prompt", Description: "A fixture of the conformance suite."}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{}, nil
		})
		return answered("changed")
	}
}

// The resources and prompts of the conformance suite.

func addConformanceThings(t *testing.T, server *mcp.Server) {
	image := decoded(t, pixelPNG)
	resource := func(name, mime string, contents *mcp.ResourceContents) {
		uri := "test://" + name
		contents.URI, contents.MIMEType = uri, mime
		server.AddResource(&mcp.Resource{URI: uri, Name: name, MIMEType: mime}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{contents}}, nil
		})
	}
	resource("static-text", "text/plain", &mcp.ResourceContents{Text: "This is the content of the static text resource."})
	resource("static-binary", "image/png", &mcp.ResourceContents{Blob: image})
	resource("watched-resource", "text/plain", &mcp.ResourceContents{Text: "watched"})
	server.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "test://template/{id}/data", Name: "template", MIMEType: "application/json"},
		func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(req.Params.URI, "test://template/"), "/data")
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{
				URI: req.Params.URI, MIMEType: "application/json", Text: fmt.Sprintf(`{"id":%q,"templateTest":true,"data":"Data for ID: %s"}`, id, id),
			}}}, nil
		})

	prompt := func(name string, arguments []string, get func(map[string]string) []mcp.Content) {
		p := &mcp.Prompt{Name: name, Description: "A fixture of the conformance suite."}
		for _, argument := range arguments {
			p.Arguments = append(p.Arguments, &mcp.PromptArgument{Name: argument, Required: true})
		}
		server.AddPrompt(p, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return prompted(get(req.Params.Arguments)...), nil
		})
	}
	prompt("test_simple_prompt", nil, func(map[string]string) []mcp.Content {
		return []mcp.Content{text("This is a simple prompt for testing.")}
	})
	prompt("test_prompt_with_arguments", []string{"arg1", "arg2"}, func(args map[string]string) []mcp.Content {
		return []mcp.Content{text("Prompt with arguments: arg1='%s', arg2='%s'", args["arg1"], args["arg2"])}
	})
	prompt("test_prompt_with_embedded_resource", []string{"resourceUri"}, func(args map[string]string) []mcp.Content {
		return []mcp.Content{embedded(args["resourceUri"]), text("Process it.")}
	})
	prompt("test_prompt_with_image", nil, func(map[string]string) []mcp.Content {
		return []mcp.Content{&mcp.ImageContent{Data: image, MIMEType: "image/png"}, text("Look at it.")}
	})
}

func prompted(contents ...mcp.Content) *mcp.GetPromptResult {
	result := &mcp.GetPromptResult{}
	for _, content := range contents {
		result.Messages = append(result.Messages, &mcp.PromptMessage{Role: "user", Content: content})
	}
	return result
}

// suitePatience is the SyncTimeout of the door under test: less than the duration of the suite's tools
// that must become tasks, and much more than that of the others.
const suitePatience = 150 * time.Millisecond

// longerThanPatience is longer than the patience.
const longerThanPatience = 3 * suitePatience

// addConformanceTasks adds the tools that the suite of the tasks extension calls.
func addConformanceTasks(d *door.Door) {
	addTools(d.Server(), map[string]handler{
		"greet": func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var in struct{ Name string }
			if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
				return nil, err
			}
			return answered("Hello, %s!", in.Name)
		},
		"slow_compute": func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var in struct{ Seconds float64 }
			if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
				return nil, err
			}
			return pause(ctx, time.Duration(in.Seconds*float64(time.Second)), "computed")
		},
		"failing_job": after(longerThanPatience, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			failed := &mcp.CallToolResult{}
			failed.SetError(errors.New("the job failed"))
			return failed, nil
		}),
		"protocol_error_job": after(longerThanPatience, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			panic("the job panics")
		}),
		"confirm_delete": whenTask(func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if answer := filled(req.Params.InputResponses, "confirm"); answer != nil {
				return answered("deleted: %v", answer["confirm"])
			}
			return asking("", mcp.InputRequestMap{"confirm": asksFor("Delete it?", `"confirm":{"type":"boolean"}`)})
		}),
		"multi_input": whenTask(func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if len(req.Params.InputResponses) == 2 {
				return answered("both answered")
			}
			return asking("", mcp.InputRequestMap{"first": asksName(), "second": asksFor("Sure?", `"confirm":{"type":"boolean"}`)})
		}),
		"test_tool_with_task": func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			name := filledText(req.Params.InputResponses, "user_name", "name")
			if name == "" {
				return asking("", mcp.InputRequestMap{"user_name": asksName()})
			}
			return pause(ctx, longerThanPatience, "Hello, "+name)
		},
	})
}

// conformanceSupport returns the task support of the suite's tools.
func conformanceSupport(tool string) tasks.Support {
	return map[string]tasks.Support{
		"greet": tasks.Forbidden, "slow_compute": tasks.Optional, "failing_job": tasks.Required, "protocol_error_job": tasks.Optional,
		"confirm_delete": tasks.Optional, "multi_input": tasks.Optional, "test_tool_with_task": tasks.Required,
	}[tool]
}

// after delays a tool.
func after(while time.Duration, run handler) handler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if _, err := pause(ctx, while, ""); err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "cancelled"}
		}
		return run(ctx, req)
	}
}

// whenTask lets a tool ask only after its call has become a task.
func whenTask(run handler) handler {
	later := after(longerThanPatience, run)
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if len(req.Params.InputResponses) > 0 {
			return run(ctx, req)
		}
		return later(ctx, req)
	}
}
