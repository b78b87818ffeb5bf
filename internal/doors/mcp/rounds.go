package mcp

import (
	"context"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
)

// asking records the requests that a call has for a client of a stateless version, in which
// servers send no requests. The call ends with the request, and the client repeats it with
// the answer.
type asking struct{ roots atomic.Bool }

// withRoundsAssistant gives the gateway's own tools access to the client's roots. Those
// tools only read, so running them twice is harmless, and they need no consent, which
// another round would lose. Other tools are not run twice, so they get no roots.
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
		e := aai.Errorf(aai.AutomationFailed, "the client did not return its list of roots")
		e.Delivery = aai.NotDelivered
		if !answered {
			e.Message = "the client is asked for its roots; it repeats the call with the answer"
			needs.roots.Store(true)
		}
		return nil, e
	}
	return aai.WithClientCapabilities(ctx, a), needs
}

// rootsRequired asks the client for its roots.
func rootsRequired() *mcp.CallToolResult {
	return &mcp.CallToolResult{
		Content:       []mcp.Content{},
		InputRequests: mcp.InputRequestMap{rootsRequest: &mcp.ListRootsParams{}},
	}
}
