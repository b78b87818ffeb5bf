package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
)

// The person can help at the client where a tool of the desktop needs it: describe an element that was not
// found, and let the gateway read windows. The forms are for values only. The person is not authenticated there, so an
// answer permits nothing: calls with it pass all gates.

// helpTimeout limits the time for an answer. Many clients end a call after a minute.
const helpTimeout = 45 * time.Second

// The names of the requests for help in rounds, which have a dot unlike the gateway's questions.
const (
	describeRequest = "aai.describe"
	accessRequest   = "aai.access"
)

// Tools of the desktop that the door itself knows.
const (
	findVisualTool = "ax_find_visual"
	accessibleTool = "ax_is_accessible"

	queryParam = "query" // of tools that operate an element
)

// The fields of the forms for help, and the choices of an action.
const (
	descriptionField = "description"
	visualField      = "use_visual"
	actionField      = "action"
	checkAgain       = "check_again"
	showInstructions = "show_instructions"
)

// maxWords limits a person's description, in characters.
const maxWords = 300

type helpKey struct{}

// withHelp returns a context in which help does not ask: the person is asked once for each call.
func withHelp(ctx context.Context) context.Context { return context.WithValue(ctx, helpKey{}, true) }

// help asks the person for help with the outcome of a call. It returns the outcome of the call that it made with the
// answer, or the given one, to which it may add the person's words.
func (d *Door) help(ctx context.Context, req *mcp.CallToolRequest, o outcome) outcome {
	if !d.cfg.AskForHelp || !d.isDesktop(o.call) || !capabilitiesOf(req).forms || ctx.Err() != nil || ctx.Value(helpKey{}) != nil {
		return o
	}
	failure := aai.AsError(o.err)
	switch {
	case failure != nil && failure.Code == aai.ElementNotFound && failure.Query != "" && failure.Query == textArgument(o.call.Raw, queryParam):
		return d.describeAnew(ctx, req, o.call, failure)
	case failure == nil && o.call.Tool == accessibleTool && !isEnabled(o.result):
		return d.askForAccess(ctx, req, o.call, o.result)
	}
	return o
}

// applyDescription gives the call the description of its element that a client of a stateless version brings, and returns
// it; nil if there is none. It fails if the person closed the form.
func (d *Door) applyDescription(req *mcp.CallToolRequest, call *aai.Call) (*description, error) {
	if !d.cfg.AskForHelp || !isModern(req) || !d.isDesktop(call) {
		return nil, nil
	}
	if answer := responseTo(req, describeRequest); answer != nil && answer.Action == "cancel" {
		e := aai.Errorf(aai.ElementNotFound, "nothing matches %q", aai.CleanLabel(textArgument(call.Raw, queryParam), 80))
		e.Delivery = aai.NotDelivered
		return nil, withoutDescription(e, answer)
	}
	said := describedEarlier(req)
	if said != nil {
		call.Raw = withQuery(call.Raw, said.Words)
	}
	return said, nil
}

// textArgument returns an argument of a call that is a text; otherwise "".
func textArgument(raw json.RawMessage, name string) string {
	var args map[string]json.RawMessage
	text := ""
	if json.Unmarshal(raw, &args) != nil || json.Unmarshal(args[name], &text) != nil {
		return ""
	}
	return text
}

// elicitHelp shows the form to the person of a client with a session, and returns the answer; nil if there is none.
func (d *Door) elicitHelp(ctx context.Context, req *mcp.CallToolRequest, form *mcp.ElicitParams) *mcp.ElicitResult {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(d.cfg.HelpTimeout, helpTimeout))
	defer cancel()
	answer, err := req.Session.Elicit(ctx, form)
	if err != nil {
		d.cfg.Log.Info("the person could not be asked for help through the client", "question", form.Message, "cause", err)
		return nil
	}
	return answer
}

// helpRequired returns the result that asks for help in a further round.
func helpRequired(name string, form *mcp.ElicitParams) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{}, InputRequests: mcp.InputRequestMap{name: form}}
}

// helpForm returns a form with the fields, of which the first is required.
func helpForm(message, required string, fields map[string]any) *mcp.ElicitParams {
	return &mcp.ElicitParams{Mode: "form", Message: message, RequestedSchema: map[string]any{
		"type": "object", "properties": fields, "required": []string{required},
	}}
}

// A description is how the person describes an element that was not found.
type description struct {
	Words  string `json:"description"`
	Visual bool   `json:"use_visual"`
}

// newDescription reads the answer to the form. It returns nil for every answer without words.
func newDescription(answer *mcp.ElicitResult) *description {
	if answer == nil || answer.Action != "accept" {
		return nil
	}
	words, _ := answer.Content[descriptionField].(string)
	said := description{aai.CleanLabel(words, maxWords), true}
	if visual, given := answer.Content[visualField].(bool); given {
		said.Visual = visual
	}
	if strings.TrimSpace(said.Words) == "" {
		return nil
	}
	return &said
}

// describeAnew asks the person to describe the element of a call in other words, and makes the call with them.
func (d *Door) describeAnew(ctx context.Context, req *mcp.CallToolRequest, call *aai.Call, failure *aai.Error) outcome {
	if isModern(req) {
		// The answers to the gateway's questions would not come again in another round.
		if len(call.Answers) > 0 || len(req.Params.InputResponses) > 0 || describedEarlier(req) != nil {
			answer := responseTo(req, describeRequest)
			if newDescription(answer) != nil {
				return outcome{call: call, err: failure}
			}
			return outcome{call: call, err: withoutDescription(failure, answer)}
		}
		return outcome{call: call, err: failure, asks: helpRequired(describeRequest, describeForm(call, failure))}
	}
	answer := d.elicitHelp(ctx, req, describeForm(call, failure))
	said := newDescription(answer)
	if said == nil || ctx.Err() != nil {
		return outcome{call: call, err: withoutDescription(failure, answer)}
	}
	again := repeated(call, call.Tool, withQuery(call.Raw, said.Words))
	return d.described(ctx, req, d.makeCall(ctx, req, again), said)
}

// repeated returns a call with other arguments on behalf of the given one. It has no answers of the person: they were for
// other arguments.
func repeated(call *aai.Call, tool string, args json.RawMessage) *aai.Call {
	again := *call
	again.Parent, again.ID, again.Answers, again.Tool, again.Raw, again.Args = call.ID, aai.NewCallID(), nil, tool, args, nil
	return &again
}

func describeForm(call *aai.Call, failure *aai.Error) *mcp.ElicitParams {
	message := fmt.Sprintf("Could not find '%s' in %s. Can you describe it differently?", aai.CleanLabel(failure.Query, 80), aai.CleanLabel(textArgument(call.Raw, "app"), 60))
	return helpForm(message, descriptionField, map[string]any{
		descriptionField: map[string]any{"type": "string", "title": "Alternative description", "minLength": 1, "maxLength": maxWords},
		visualField:      map[string]any{"type": "boolean", "title": "Look for it in the picture too?", "default": true},
	})
}

// withoutDescription returns the failure with the person's answer, which has no description.
func withoutDescription(failure *aai.Error, answer *mcp.ElicitResult) *aai.Error {
	e := *failure
	switch {
	case answer == nil:
		e.Hint = strings.TrimSpace(e.Hint + " The person was asked for other words at the client and gave no answer.")
	case answer.Action == "decline":
		e.Hint = strings.TrimSpace(e.Hint + " The person does not want to describe it; do not ask again.")
	case answer.Action == "cancel":
		e.Hint = "The person closed the question for other words. Ask them before you go on."
	}
	return &e
}

// withQuery returns the arguments with another query. The number among the matches belongs to the former one.
func withQuery(raw json.RawMessage, query string) json.RawMessage {
	var args map[string]any
	if json.Unmarshal(raw, &args) != nil {
		return raw
	}
	delete(args, "nth")
	args["query"] = query
	changed, err := json.Marshal(args)
	if err != nil {
		return raw
	}
	return changed
}

// described returns the outcome of a call that was made with the words of the person. Without a match it looks for them in
// the picture, if the person wants that.
func (d *Door) described(ctx context.Context, req *mcp.CallToolRequest, o outcome, said *description) outcome {
	if failure := aai.AsError(o.err); failure != nil && failure.Code == aai.ElementNotFound && said.Visual {
		if seen := d.makeSeen(ctx, req, o.call, said); seen.call != nil {
			o = seen
		}
	}
	if o.err == nil && o.result != nil {
		warned := *o.result
		warned.Warning = strings.TrimSpace(fmt.Sprintf("the person described it as %q. %s", said.Words, warned.Warning))
		o.result = &warned
	}
	return o
}

// makeSeen makes the call with the ref of the place in the picture. Without such a place it makes none.
func (d *Door) makeSeen(ctx context.Context, req *mcp.CallToolRequest, call *aai.Call, said *description) outcome {
	args, err := json.Marshal(map[string]any{"app": textArgument(call.Raw, "app"), descriptionField: said.Words})
	if err != nil {
		return outcome{}
	}
	found := d.makeCall(ctx, req, repeated(call, findVisualTool, args))
	if found.err != nil {
		return outcome{}
	}
	ref := refOf(found.result)
	switch {
	case ref == "":
		return outcome{}
	case call.Tool == findTool:
		return found
	}
	return d.makeCall(ctx, req, repeated(call, call.Tool, withQuery(call.Raw, ref)))
}

// refOf returns the ref in the result of a search in a picture; "" if nothing was found.
func refOf(found *aai.Result) string {
	var match struct {
		Found bool   `json:"found"`
		Ref   string `json:"element_ref"`
	}
	data, err := json.Marshal(found.Data)
	if err != nil || json.Unmarshal(data, &match) != nil || !match.Found {
		return ""
	}
	return match.Ref
}

// responseTo returns the client's response to a request of an earlier round; nil if there is none.
func responseTo(req *mcp.CallToolRequest, name string) *mcp.ElicitResult {
	answer, _ := req.Params.InputResponses[name].(*mcp.ElicitResult)
	return answer
}

// describedEarlier returns the description that the client of a stateless version brings: in its response, or in the
// state that came with a later question. It is the client's word like the call itself.
func describedEarlier(req *mcp.CallToolRequest) *description {
	if !isModern(req) {
		return nil
	}
	if said := newDescription(responseTo(req, describeRequest)); said != nil {
		return said
	}
	var state map[string]string
	var said description
	if json.Unmarshal([]byte(req.Params.RequestState), &state) != nil || json.Unmarshal([]byte(state[describeRequest]), &said) != nil {
		return nil
	}
	if said.Words = aai.CleanLabel(said.Words, maxWords); said.Words == "" {
		return nil
	}
	return &said
}

// askForAccess shows the person how to make windows readable, and checks again if the person says so.
func (d *Door) askForAccess(ctx context.Context, req *mcp.CallToolRequest, call *aai.Call, result *aai.Result) outcome {
	form := helpForm(accessMessage(result), actionField, map[string]any{actionField: map[string]any{
		"type": "string", "title": "Action", "enum": []string{checkAgain, showInstructions, "cancel"},
		"enumNames": []string{"I have done that: check again", "Let the agent explain it", "Cancel"},
	}})
	answer := responseTo(req, accessRequest)
	switch {
	case !isModern(req):
		answer = d.elicitHelp(ctx, req, form)
	case answer == nil && (len(call.Answers) > 0 || len(req.Params.InputResponses) > 0):
		return outcome{call: call, result: result}
	case answer == nil:
		return outcome{call: call, result: result, asks: helpRequired(accessRequest, form)}
	}
	action := ""
	if answer != nil && answer.Action == "accept" {
		action, _ = answer.Content[actionField].(string)
	}
	o := outcome{call: call, result: result}
	if action == checkAgain && !isModern(req) { // in rounds the call itself checks again
		if o = d.makeCall(ctx, req, repeated(call, call.Tool, call.Raw)); o.err != nil || isEnabled(o.result) {
			return o
		}
	}
	told := *o.result
	told.Warning = accessWarning(action, answer)
	o.result = &told
	return o
}

// accessMessage says why windows cannot be read, and the remedy.
func accessMessage(result *aai.Result) string {
	data, _ := result.Data.(map[string]any)
	message := "Windows cannot be read here."
	for _, part := range []string{"detail", "suggestion"} {
		if text, _ := data[part].(string); text != "" {
			message += "\n\n" + aai.CleanText(text, 1000)
		}
	}
	return message
}

// accessWarning returns the person's choice in words for the model.
func accessWarning(action string, answer *mcp.ElicitResult) string {
	switch {
	case action == checkAgain:
		return "the person says that it is done, and windows still cannot be read"
	case action == showInstructions:
		return "the person asks you to explain the suggestion step by step"
	case answer == nil:
		return "the person was asked at the client and gave no answer"
	}
	return "the person does not want to change it now; do not ask again"
}

// isEnabled reports whether the result of the check says that windows can be read.
func isEnabled(result *aai.Result) bool {
	data, _ := result.Data.(map[string]any)
	enabled, known := data["enabled"].(bool)
	return enabled || !known
}

// isHelpRequest reports whether the name is one of the requests for help.
func isHelpRequest(name string) bool { return name == describeRequest || name == accessRequest }
