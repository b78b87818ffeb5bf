package mcp

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/netguard"
)

// The names of what a client is asked besides the questions of gates, which have
// no dot in theirs.
const (
	urlRequest   = "aai.visit"
	rootsRequest = "aai.roots"
)

// askToOpenURL asks a client that can show pages to open the one where the person logs
// in. What the person types there is between them and the page. Whether they have
// logged in nobody tells the gateway, so that the call is not made again: the model
// is told that it may. It reports false if the client cannot be asked.
func (d *Door) askToOpenURL(ctx context.Context, req *mcp.CallToolRequest, call *aai.Call, failure *aai.Error) (*mcp.CallToolResult, bool) {
	if !supportsURLElicitation(req) || !isWebURL(failure.LoginURL) {
		return nil, false
	}
	if answer, asked := req.Params.InputResponses[urlRequest]; asked {
		result, _ := answer.(*mcp.ElicitResult)
		return failed(urlResultError(failure, result, nil)), true
	}
	page := &mcp.ElicitParams{
		Mode: "url", Message: failure.Message, URL: failure.LoginURL, ElicitationID: call.ID,
	}
	if isModern(req) {
		// A round that brings answers to gates does not bring them again.
		if len(call.Answers) > 0 {
			return nil, false
		}
		return &mcp.CallToolResult{Content: []mcp.Content{}, InputRequests: mcp.InputRequestMap{urlRequest: page}}, true
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	result, err := req.Session.Elicit(ctx, page)
	return failed(urlResultError(failure, result, err)), true
}

// urlResultError is the failure with what became of the question.
func urlResultError(failure *aai.Error, result *mcp.ElicitResult, err error) *aai.Error {
	e := *failure
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		e.Hint = "The person was asked to open the page where they log in, but did not answer in time."
	case err != nil || result == nil:
		return failure // it could not be shown
	case result.Action == "accept":
		e.Hint = "The page where they log in was shown to the person. Make the same call again when they say that they are done."
	case result.Action == "decline":
		e.Hint = "The person does not want to open the page where they log in. Do not ask again unless they say so."
	default:
		e.Hint = "The person closed the question without an answer. Ask them whether they want to log in."
	}
	return &e
}

// supportsURLElicitation reports whether the client says that it can show a page.
func supportsURLElicitation(req *mcp.CallToolRequest) bool {
	return capabilitiesOf(req).urls
}

// isWebURL reports whether an address is one that a person may be sent to: a page
// of the web, or of this computer, without a name and a password in it.
func isWebURL(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || strings.ContainsAny(address, " \t\r\n") {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && netguard.IsLoopback(u.Hostname())
}
