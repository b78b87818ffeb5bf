package mcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"aai"
)

// loginInput names, in the newer era, the page that a client was given to open.
const loginInput = "login"

// mustVisit reports whether the call failed because the person has to open a page,
// and the client can take them there. It is asked once a call: what the call says
// after that is the answer.
func mustVisit(req *mcp.CallToolRequest, failure *aai.Error) bool {
	if failure == nil || failure.Visit == "" {
		return false
	}
	if _, been := req.Params.InputResponses[loginInput]; been {
		return false
	}
	caps := clientCapabilities(req)
	return caps != nil && caps.Elicitation != nil && caps.Elicitation.URL != nil
}

func clientCapabilities(req *mcp.CallToolRequest) *mcp.ClientCapabilities {
	if caps := req.ClientCapabilities(); caps != nil {
		return caps
	}
	if init := req.Session.InitializeParams(); init != nil {
		return init.Capabilities
	}
	return nil
}

// page asks the client to take the person to a page. That the client accepts
// proves nothing: whoever knows the person next decides.
func page(call *aai.Call, failure *aai.Error) *mcp.ElicitParams {
	return &mcp.ElicitParams{Mode: "url", Message: failure.Message, URL: failure.Visit, ElicitationID: call.ID}
}

// visit takes the person to the page by way of the client, and makes the call again
// when they went there.
func (d *Door) visit(ctx context.Context, req *mcp.CallToolRequest, call *aai.Call, failure *aai.Error) (*mcp.CallToolResult, error) {
	if isModern(req) {
		return &mcp.CallToolResult{
			Content: []mcp.Content{}, InputRequests: mcp.InputRequestMap{loginInput: page(call, failure)},
		}, nil
	}
	asking, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	answer, err := req.Session.Elicit(asking, page(call, failure))
	if err != nil || answer.Action != "accept" {
		d.log.Info("nobody went to log in", "app", call.App, "cause", err)
		return failed(failure), nil
	}
	again := *call
	again.Parent, again.ID = call.ID, aai.NewCallID()
	log := d.newCallLog(req)
	result, failed := d.gateway.Do(ctx, &again)
	log.ended(ctx, &again, aai.AsError(failed))
	return d.answered(req, &again, result, failed), nil
}
