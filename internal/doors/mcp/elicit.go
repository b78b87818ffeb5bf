package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/mcp/tasks"
	"github.com/gybob/aai-gateway/internal/netguard"
)

// askTimeout limits the time for an answer to a question at the client.
const askTimeout = 4 * time.Minute

// choiceField names the only field of the form.
const choiceField = "decision"

// ask asks a call's questions through the client, if the client supports that and policy
// permits it, and repeats the call with the answers.
func (d *Door) ask(ctx context.Context, req *mcp.CallToolRequest, call *aai.Call, failure *aai.Error) (*mcp.CallToolResult, error) {
	if !capabilitiesOf(req).forms || len(call.Answers) > 0 || !mayAskClient(failure.Questions) {
		return failed(failure), nil
	}
	if isModern(req) {
		return inputRequired(failure.Questions, describedEarlier(req))
	}
	answers, ok := d.elicit(ctx, req.Session, failure.Questions)
	if !ok && ctx.Err() == nil {
		return failed(failure), nil
	}
	// A call that was cancelled meanwhile goes on, so that Do refuses and records it.
	again := *call
	again.Parent, again.ID, again.Answers = call.ID, aai.NewCallID(), answers
	o := d.help(ctx, req, d.makeCall(ctx, req, &again))
	if o.call != &again {
		return d.conclude(withHelp(ctx), req, o)
	}
	return d.finishCall(ctx, req, o.call, o.result, o.err), nil
}

func mayAskClient(questions []aai.Question) bool {
	for _, q := range questions {
		if !q.AllowsChannel(aai.Client) {
			return false
		}
	}
	return true
}

// clientCapabilities are the capabilities of a client for a call.
type clientCapabilities struct{ forms, urls, roots, samples bool }

// capabilitiesOf reads the client's capabilities from this request or from the opening of
// the session. The SDK's method would allocate a decoder of 32 KB each time.
func capabilitiesOf(req *mcp.CallToolRequest) clientCapabilities {
	if said, ok := req.Params.Meta[mcp.MetaKeyClientCapabilities].(map[string]any); ok {
		elicits, asks := said["elicitation"].(map[string]any)
		can := newCapabilities(asks, elicits["form"] != nil, elicits["url"] != nil, said["roots"] != nil)
		can.samples = said["sampling"] != nil
		return can
	}
	init := req.Session.InitializeParams()
	if init == nil || init.Capabilities == nil {
		return clientCapabilities{}
	}
	caps := init.Capabilities
	if caps.Elicitation == nil {
		return clientCapabilities{roots: caps.RootsV2 != nil}
	}
	return newCapabilities(true, caps.Elicitation.Form != nil, caps.Elicitation.URL != nil, caps.RootsV2 != nil)
}

// newCapabilities returns the capabilities of a client for its elicitation modes. A client
// without modes supports forms.
func newCapabilities(asks, forms, pages, roots bool) clientCapabilities {
	return clientCapabilities{forms: asks && (forms || !pages), urls: asks && pages, roots: roots}
}

func isModern(req *mcp.CallToolRequest) bool {
	init := req.Session.InitializeParams()
	return init == nil || init.ProtocolVersion >= tasks.StatelessVersion
}

// form converts a question to MCP elicitation: one required choice without a default, so
// that a client cannot answer by leaving it alone.
func form(q aai.Question) *mcp.ElicitParams {
	ids := make([]string, len(q.Choices))
	labels := make([]string, len(q.Choices))
	for i, c := range q.Choices {
		ids[i], labels[i] = c.ID, c.Label
	}
	return &mcp.ElicitParams{
		Mode:    "form",
		Message: strings.TrimSpace(q.Title + "\n\n" + q.Text + "\n\n" + q.Details),
		RequestedSchema: map[string]any{
			"type": "object",
			"properties": map[string]any{
				choiceField: map[string]any{"type": "string", "title": "Decision", "enum": ids, "enumNames": labels},
			},
			"required": []string{choiceField},
		},
	}
}

// declined is the choice of a person who declines a form. It is none of the question's choices, so
// that the gates take it for a refusal.
const declined = "decline"

// formAnswer converts the client's response. A form that was closed has no choice.
func formAnswer(seal string, result *mcp.ElicitResult) aai.Answer {
	a := aai.Answer{Seal: seal, Channel: aai.Client}
	if result != nil && result.Action == "accept" {
		if choice, ok := result.Content[choiceField].(string); ok {
			a.Choice = choice
		}
	} else if result != nil && result.Action == "decline" {
		a.Choice = declined
	}
	return a
}

// elicit asks a client of the older protocols, one question after another. It reports false
// if the client could not ask or did not answer in time.
func (d *Door) elicit(ctx context.Context, session *mcp.ServerSession, questions []aai.Question) (map[string]aai.Answer, bool) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	answers := make(map[string]aai.Answer, len(questions))
	for _, q := range questions {
		result, err := session.Elicit(ctx, form(q))
		if err != nil {
			d.cfg.Log.Info("a question could not be put through the client", "question", q.Title, "cause", err)
			return nil, false
		}
		answers[q.ID] = formAnswer(q.Seal, result)
	}
	return answers, true
}

// inputRequired is the answer to a client of a stateless version: the questions to ask, and
// the seals to return with the answers. The state keeps the person's description of the call's element.
func inputRequired(questions []aai.Question, said *description) (*mcp.CallToolResult, error) {
	result := &mcp.CallToolResult{Content: []mcp.Content{}, InputRequests: mcp.InputRequestMap{}}
	seals := make(map[string]string, len(questions))
	for _, q := range questions {
		result.InputRequests[q.ID] = form(q)
		seals[q.ID] = q.Seal
	}
	if said != nil {
		kept, err := json.Marshal(said)
		if err != nil {
			return nil, err
		}
		seals[describeRequest] = string(kept)
	}
	state, err := json.Marshal(seals)
	if err != nil {
		return nil, err
	}
	result.RequestState = string(state)
	return result, nil
}

// answersOf reads the answers of a client of a stateless version. A foreign state yields no
// seals, and the gateway refuses an answer without its seal.
func answersOf(req *mcp.CallToolRequest) map[string]aai.Answer {
	if len(req.Params.InputResponses) == 0 {
		return nil
	}
	var seals map[string]string
	if json.Unmarshal([]byte(req.Params.RequestState), &seals) != nil {
		seals = nil
	}
	answers := make(map[string]aai.Answer, len(req.Params.InputResponses))
	for id, response := range req.Params.InputResponses {
		if id == urlRequest || id == rootsRequest || isHelpRequest(id) || strings.HasPrefix(id, sampleRequest) {
			continue // they do not answer the gateway's questions
		}
		result, _ := response.(*mcp.ElicitResult)
		answers[id] = formAnswer(seals[id], result)
	}
	return answers
}

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
	if !capabilitiesOf(req).urls || !isWebURL(failure.LoginURL) {
		return nil, false
	}
	if answer, asked := req.Params.InputResponses[urlRequest]; asked {
		result, _ := answer.(*mcp.ElicitResult)
		return loginResult(failure, result, nil), true
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
	return loginResult(failure, result, err), true
}

// loginResult returns the failure with the person's answer to the request to open the login page.
func loginResult(failure *aai.Error, result *mcp.ElicitResult, err error) *mcp.CallToolResult {
	e := urlResultError(failure, result, err)
	out := failed(e)
	if err == nil && result != nil {
		content := describe(e)
		content.Elicitation = result.Action
		out.StructuredContent = content
	}
	return out
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

// isWebURL reports whether a person may be sent to an address: a page of the web, or of
// this computer, without user information.
func isWebURL(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || strings.ContainsAny(address, " \t\r\n") {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && netguard.IsLoopback(u.Hostname())
}
