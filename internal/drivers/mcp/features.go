package mcp

import (
	"context"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
)

func textArg(call *aai.Call, name string) string {
	text, _ := call.Args[name].(string)
	return text
}

// listRow is one entry of a listing.
type listRow map[string]any

func (s *session) row(pairs ...string) listRow {
	r := listRow{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			r[pairs[i]] = s.cleanText(aai.CleanText(pairs[i+1], maxText))
		}
	}
	return r
}

func page(name string, rows []listRow, next string) map[string]any {
	data := map[string]any{name: rows}
	if next != "" {
		data["next_cursor"] = next
	}
	return data
}

// resources lists a page of resources. The first page includes the templates.
func (s *session) resources(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	listed, err := s.client.ListResources(ctx, &sdk.ListResourcesParams{Cursor: textArg(call, "cursor")})
	if err != nil {
		return nil, err
	}
	rows := make([]listRow, 0, len(listed.Resources))
	for _, r := range listed.Resources {
		rows = append(rows, s.row("uri", r.URI, "name", r.Name, "title", r.Title, "description", r.Description,
			"mime_type", r.MIMEType))
	}
	data := page("resources", rows, listed.NextCursor)
	if textArg(call, "cursor") == "" {
		if templates, err := s.client.ListResourceTemplates(ctx, nil); err == nil && len(templates.ResourceTemplates) > 0 {
			rows := make([]listRow, 0, len(templates.ResourceTemplates))
			for _, t := range templates.ResourceTemplates {
				rows = append(rows, s.row("uri_template", t.URITemplate, "name", t.Name, "title", t.Title, "description",
					t.Description, "mime_type", t.MIMEType))
			}
			data["templates"] = rows
		}
	}
	return &aai.Result{Data: data}, nil
}

// resource reads a resource.
func (s *session) resource(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	var read *sdk.ReadResourceResult
	err := s.rounds(ctx, func(with roundReply) (serverRound, error) {
		answer, err := s.client.ReadResource(ctx,
			&sdk.ReadResourceParams{URI: textArg(call, "uri"), InputResponses: with.responses, RequestState: with.state})
		if err != nil {
			return serverRound{}, err
		}
		read = answer
		return serverRound{answer.NeedsInput(), answer.InputRequests, answer.RequestState}, nil
	})
	if err != nil {
		return nil, err
	}
	out := &aai.Result{}
	var texts []string
	for _, c := range read.Contents {
		if c != nil {
			texts = append(texts, s.embedded(out, c))
		}
	}
	out.Text = strings.Join(texts, "\n")
	return out, nil
}

// prompts lists a page of prompts.
func (s *session) prompts(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	listed, err := s.client.ListPrompts(ctx, &sdk.ListPromptsParams{Cursor: textArg(call, "cursor")})
	if err != nil {
		return nil, err
	}
	rows := make([]listRow, 0, len(listed.Prompts))
	for _, p := range listed.Prompts {
		r := s.row("name", p.Name, "title", p.Title, "description", p.Description)
		var arguments []listRow
		for _, a := range p.Arguments {
			argument := s.row("name", a.Name, "description", a.Description)
			argument["required"] = a.Required
			arguments = append(arguments, argument)
		}
		if arguments != nil {
			r["arguments"] = arguments
		}
		rows = append(rows, r)
	}
	return &aai.Result{Data: page("prompts", rows, listed.NextCursor)}, nil
}

// prompt returns the messages of a prompt.
func (s *session) prompt(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	arguments := make(map[string]string)
	values, _ := call.Args["arguments"].(map[string]any)
	for name, value := range values {
		arguments[name], _ = value.(string)
	}
	var got *sdk.GetPromptResult
	err := s.rounds(ctx, func(with roundReply) (serverRound, error) {
		answer, err := s.client.GetPrompt(ctx, &sdk.GetPromptParams{Name: textArg(call, "name"), Arguments: arguments,
			InputResponses: with.responses, RequestState: with.state})
		if err != nil {
			return serverRound{}, err
		}
		got = answer
		return serverRound{answer.NeedsInput(), answer.InputRequests, answer.RequestState}, nil
	})
	if err != nil {
		return nil, err
	}
	out := &aai.Result{}
	var texts []string
	if got.Description != "" {
		texts = append(texts, s.cleanText(got.Description))
	}
	for _, m := range got.Messages {
		texts = append(texts, aai.CleanLabel(string(m.Role), 20)+": "+
			strings.Join(s.content(out, []sdk.Content{m.Content}), "\n"))
	}
	out.Text = strings.Join(texts, "\n")
	return out, nil
}
