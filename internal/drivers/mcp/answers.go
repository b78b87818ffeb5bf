package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
)

// callTool calls a tool of the server. The SDK rejects a whole result for one content of a kind that it
// does not know; then the rest is read, and odd describes the first such content.
func (s *session) callTool(ctx context.Context, params *sdk.CallToolParams, kept *rawResult) (result *sdk.CallToolResult, odd string, err error) {
	if s.listing.Load().asTasks[params.Name] {
		return s.callTask(ctx, params, kept)
	}
	result, err = s.client.CallTool(ctx, params)
	if err == nil || kept.result == nil || ctx.Err() != nil {
		return result, "", err
	}
	if result, odd = readResult(kept.result); result == nil {
		return nil, "", s.unreadableAnswer(kept.result, err)
	}
	return result, odd, nil
}

// unreadableAnswer returns the error of a result that cannot be read, with its beginning.
func (s *session) unreadableAnswer(raw json.RawMessage, err error) *aai.Error {
	e := aai.Errorf(aai.AutomationFailed, "the MCP server of %s sent an answer that cannot be read: %s", s.app,
		s.secrets.Redact(unreadable(raw, err)))
	e.Delivery, e.Err = aai.Delivered, err
	return e
}

// readResult decodes a tool's result content by content, or returns nil. Its structured content is
// elsewhere; see [rawResult].
func readResult(raw json.RawMessage) (result *sdk.CallToolResult, odd string) {
	var members struct {
		Content json.RawMessage `json:"content"`
		IsError bool            `json:"isError"`
	}
	if json.Unmarshal(raw, &members) != nil || members.Content == nil {
		return nil, ""
	}
	result = &sdk.CallToolResult{IsError: members.IsError}
	result.Content, odd = readContents(members.Content)
	return result, odd
}

// readContents decodes a list of contents. A content of an unknown kind becomes a text with its JSON.
// Some servers send a text or one content in place of the list.
func readContents(raw json.RawMessage) (contents []sdk.Content, odd string) {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		items, odd = []json.RawMessage{raw}, "its content is no list"
	}
	for i, item := range items {
		var one sdk.CallToolResult
		if json.Unmarshal(slices.Concat([]byte(`{"content":[`), item, []byte(`]}`)), &one) == nil {
			contents = append(contents, one.Content...)
			continue
		}
		var text string
		if json.Unmarshal(item, &text) != nil {
			var kind struct{ Type string }
			_ = json.Unmarshal(item, &kind) // it may have none
			text = fmt.Sprintf("Content that the gateway cannot read: %s", item[:min(len(item), maxInline)])
			odd = cmp.Or(odd, fmt.Sprintf("content[%d] of the type %q cannot be read", i, aai.CleanLabel(kind.Type, maxName)))
		}
		contents = append(contents, &sdk.TextContent{Text: text})
	}
	return contents, odd
}
