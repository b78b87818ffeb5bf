package mcp

import (
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"aai"
)

// success shapes a result. Text and structured content say the same, because
// some clients show the model only one of them.
func (d *Door) success(r *aai.Result) *mcp.CallToolResult {
	out := &mcp.CallToolResult{}
	structured := map[string]any{}
	text, warning := r.Text, r.Warning
	data, err := json.Marshal(r.Data)
	switch {
	case err != nil:
		// The SDK would leave the request without any answer.
		d.log.Error("a result cannot be written as JSON", "cause", err)
		warning = strings.TrimLeft(warning+"; the app's result is left out because it is no JSON value", "; ")
	case r.Data != nil:
		structured["result"] = json.RawMessage(data)
		if text == "" {
			text = string(data)
		}
	case text != "":
		structured["result"] = text
	}
	if warning != "" {
		structured["warning"] = warning
		text = strings.TrimLeft(text+"\nWarning: "+warning, "\n")
	}
	if text == "" {
		text = "Done. The app gave no result."
	}
	out.Content = append(out.Content, &mcp.TextContent{Text: text})
	for _, image := range r.Images {
		out.Content = append(out.Content, &mcp.ImageContent{Data: image.Data, MIMEType: image.MIME})
	}
	out.StructuredContent = structured
	return out
}

// failure is the structured content of a failed call.
type failure struct {
	Type         aai.Code     `json:"type"`
	Code         int          `json:"code"`
	Detail       string       `json:"detail"`
	Suggestion   string       `json:"suggestion,omitempty"`
	Candidates   []string     `json:"candidates,omitempty"`
	Delivery     aai.Delivery `json:"delivery,omitempty"`
	Retry        string       `json:"retry"`
	RetryAfterMS int64        `json:"retry_after_ms,omitempty"`
}

func describe(e *aai.Error) failure {
	retry := "unsafe"
	if e.RetrySafe() {
		retry = "safe"
	}
	return failure{
		Type: e.Code, Code: e.Code.Number(), Detail: e.Message, Suggestion: e.Hint, Candidates: e.Candidates,
		Delivery: e.Delivery, Retry: retry, RetryAfterMS: e.RetryAfter.Milliseconds(),
	}
}

// failed shapes an error as a result that the model can read and act on.
func failed(e *aai.Error) *mcp.CallToolResult {
	lines := []string{e.Error()}
	if len(e.Candidates) > 0 {
		lines = append(lines, "Did you mean: "+strings.Join(e.Candidates, ", ")+"?")
	}
	if e.Hint != "" {
		lines = append(lines, e.Hint)
	}
	if e.Delivery == aai.DeliveryUnknown {
		lines = append(lines, "It is not known whether the app acted on it. Check before you try again.")
	}
	return &mcp.CallToolResult{
		IsError:           true,
		Content:           []mcp.Content{&mcp.TextContent{Text: strings.Join(lines, "\n")}},
		StructuredContent: describe(e),
	}
}

// protocolError shapes an error where the protocol has no results for it.
func protocolError(e *aai.Error) error {
	data, err := json.Marshal(describe(e))
	if err != nil {
		data = nil
	}
	return &jsonrpc.Error{Code: int64(e.Code.Number()), Message: e.Message, Data: data}
}
