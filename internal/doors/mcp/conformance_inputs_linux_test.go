package mcp_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The tools and the prompt of the conformance suite that ask questions in their results (SEP-2322).

func asksFor(message, properties string) *mcp.ElicitParams {
	return &mcp.ElicitParams{Message: message, RequestedSchema: anyObject(properties)}
}

func asksName() *mcp.ElicitParams { return asksFor("What is your name?", `"name":{"type":"string"}`) }

func asksModel(prompt string) *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{MaxTokens: 100, Messages: []*mcp.SamplingMessage{{Role: "user", Content: text("%s", prompt)}}}
}

func asking(state string, requests mcp.InputRequestMap) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{InputRequests: requests, RequestState: state}, nil
}

// filled returns the text that a person entered into a form, or nil.
func filled(responses mcp.InputResponseMap, name string) map[string]any {
	if result, ok := responses[name].(*mcp.ElicitResult); ok && result.Action == "accept" {
		return result.Content
	}
	return nil
}

func filledText(responses mcp.InputResponseMap, name, field string) string {
	value, _ := filled(responses, name)[field].(string)
	return value
}

func sampled(responses mcp.InputResponseMap, name string) string {
	result, ok := responses[name].(*mcp.CreateMessageWithToolsResult)
	if !ok || len(result.Content) == 0 {
		return ""
	}
	said, _ := result.Content[0].(*mcp.TextContent)
	return said.Text
}

// sealed returns a state that others cannot forge.
func sealed(state string) string {
	mac := hmac.New(sha256.New, []byte("a key of the fixture"))
	mac.Write([]byte(state))
	return state + "." + hex.EncodeToString(mac.Sum(nil))
}

func unsealed(sent string) (string, error) {
	state, _, _ := strings.Cut(sent, ".")
	if sealed(state) != sent {
		return "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState: it is none that was given out"}
	}
	return state, nil
}

func addConformanceInputs(server *mcp.Server) {
	addTools(server, map[string]handler{
		"test_input_required_result_elicitation":     inputName,
		"test_input_required_result_sampling":        inputSampling,
		"test_input_required_result_list_roots":      inputRoots,
		"test_input_required_result_request_state":   inputState,
		"test_input_required_result_tampered_state":  inputState,
		"test_input_required_result_multiple_inputs": inputAll,
		"test_input_required_result_multi_round":     inputRounds,
		"test_input_required_result_capabilities":    inputByCapability,
	})
	p := &mcp.Prompt{Name: "test_input_required_result_prompt", Description: "A fixture of the conformance suite."}
	server.AddPrompt(p, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		if context := filledText(req.Params.InputResponses, "user_context", "context"); context != "" {
			return prompted(text("Context: %s", context)), nil
		}
		return &mcp.GetPromptResult{InputRequests: mcp.InputRequestMap{
			"user_context": asksFor("What is it about?", `"context":{"type":"string"}`),
		}}, nil
	})
}

func inputName(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if name := filledText(req.Params.InputResponses, "user_name", "name"); name != "" {
		return answered("Hello, %s!", name)
	}
	return asking("", mcp.InputRequestMap{"user_name": asksName()})
}

func inputSampling(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if said := sampled(req.Params.InputResponses, "capital_question"); said != "" {
		return answered("The model said: %s", said)
	}
	return asking("", mcp.InputRequestMap{"capital_question": asksModel("What is the capital of France?")})
}

func inputRoots(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if result, ok := req.Params.InputResponses["client_roots"].(*mcp.ListRootsResult); ok {
		return answered("The client has %d roots", len(result.Roots))
	}
	return asking("", mcp.InputRequestMap{"client_roots": &mcp.ListRootsParams{}})
}

func inputState(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if req.Params.RequestState != "" || len(req.Params.InputResponses) > 0 {
		if _, err := unsealed(req.Params.RequestState); err != nil {
			return nil, err
		}
		if filled(req.Params.InputResponses, "confirm") != nil {
			return answered("state-ok")
		}
	}
	return asking(sealed("asked"), mcp.InputRequestMap{"confirm": asksFor("Go on?", `"ok":{"type":"boolean"}`)})
}

func inputAll(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	responses := req.Params.InputResponses
	name, greeting := filledText(responses, "user_name", "name"), sampled(responses, "greeting")
	roots, ok := responses["client_roots"].(*mcp.ListRootsResult)
	if name != "" && greeting != "" && ok {
		return answered("%s, %s with %d roots", greeting, name, len(roots.Roots))
	}
	return asking(sealed("all"), mcp.InputRequestMap{
		"user_name": asksName(), "greeting": asksModel("Make a greeting."), "client_roots": &mcp.ListRootsParams{},
	})
}

func inputRounds(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if req.Params.RequestState == "" {
		return asking(sealed("first"), mcp.InputRequestMap{"step1": asksName()})
	}
	state, err := unsealed(req.Params.RequestState)
	if err != nil {
		return nil, err
	}
	if state == "first" {
		name := filledText(req.Params.InputResponses, "step1", "name")
		return asking(sealed("second "+name), mcp.InputRequestMap{"step2": asksFor("Which color?", `"color":{"type":"string"}`)})
	}
	return answered("%s likes %s", strings.TrimPrefix(state, "second "), filledText(req.Params.InputResponses, "step2", "color"))
}

func inputByCapability(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if len(req.Params.InputResponses) > 0 {
		return answered("answered")
	}
	requests := mcp.InputRequestMap{}
	if caps := req.ClientCapabilities(); caps != nil {
		if caps.Elicitation != nil {
			requests["user_name"] = asksName()
		}
		if caps.Sampling != nil {
			requests["greeting"] = asksModel("Make a greeting.")
		}
		if caps.RootsV2 != nil {
			requests["client_roots"] = &mcp.ListRootsParams{}
		}
	}
	if len(requests) == 0 {
		return answered("there is nothing that the client can be asked")
	}
	return asking("", requests)
}
