package mcp

import (
	"context"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
)

// asking is what a call turned out to need of a client of the newer era, in which
// servers send no requests: the call ends with what is asked, and the client makes
// it again with the answer.
type asking struct{ roots atomic.Bool }

// withRoundsAssistant lets the gateway's own tools know the folders of the client.
// Those tools only read, so that it does no harm to run them twice, and they need
// nobody's consent, of which another round would know nothing. Other tools are
// not run again, so that for them there is no help.
func withRoundsAssistant(ctx context.Context, a aai.ClientCapabilities, req *mcp.CallToolRequest, call *aai.Call) (context.Context, *asking) {
	needs := &asking{}
	if call.App != aai.BuiltinApp || !capabilitiesOf(req).roots {
		return aai.WithClientCapabilities(ctx, a), needs
	}
	answer, answered := req.Params.InputResponses[rootsRequest]
	a.Roots = func(context.Context) ([]aai.Root, error) {
		if listed, ok := answer.(*mcp.ListRootsResult); ok && listed != nil {
			return localRoots(listed), nil
		}
		e := aai.Errorf(aai.AutomationFailed, "the client did not say which folders it works in")
		e.Delivery = aai.NotDelivered
		if !answered {
			e.Message = "the client is asked which folders it works in; it makes the call again with the answer"
			needs.roots.Store(true)
		}
		return nil, e
	}
	return aai.WithClientCapabilities(ctx, a), needs
}

// rootsRequired asks the client for its folders.
func rootsRequired() *mcp.CallToolResult {
	return &mcp.CallToolResult{
		Content:       []mcp.Content{},
		InputRequests: mcp.InputRequestMap{rootsRequest: &mcp.ListRootsParams{}},
	}
}
