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

// The names of requests to the client besides the gateway's questions, which have no dot in
// their names.
const (
	urlRequest   = "aai.visit"
	rootsRequest = "aai.roots"
)

// askToOpenURL asks a client that can show URLs to open the login page. The person's input
// there is between them and the page. The gateway does not learn whether they have logged
// in, so it does not repeat the call; the hint says that the model may. It reports false if
// the client cannot be asked.
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
		// Answers to the gateway's questions would not come again in another round.
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

// urlResultError adds the outcome of the request to the failure's hint.
func urlResultError(failure *aai.Error, result *mcp.ElicitResult, err error) *aai.Error {
	e := *failure
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		e.Hint = "The person was asked to open the login page, but did not answer in time."
	case err != nil || result == nil:
		return failure // it could not be shown
	case result.Action == "accept":
		e.Hint = "The person was shown the login page. Repeat the call when they say that they are done."
	case result.Action == "decline":
		e.Hint = "The person does not want to open the login page. Do not ask again unless they say so."
	default:
		e.Hint = "The person closed the question without an answer. Ask them whether they want to log in."
	}
	return &e
}

// supportsURLElicitation reports whether the client can show a page.
func supportsURLElicitation(req *mcp.CallToolRequest) bool {
	return capabilitiesOf(req).urls
}

// isWebURL reports whether a person may be sent to an address: a page of the web, or of
// this computer, without user information.
func isWebURL(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || strings.ContainsAny(address, " \t\r\n") {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && netguard.IsLoopback(u.Hostname())
}
