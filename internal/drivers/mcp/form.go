package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway/actionctx"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// Limits of a form.
const (
	maxFields   = 20
	maxChoices  = 8    // in a window
	maxQuestion = 2000 // bytes of its message
)

// elicit shows a server's question to the user: in the client that made the call if it supports
// forms, otherwise in a window.
func (s *session) elicit(ctx context.Context, p *sdk.ElicitParams) (*sdk.ElicitResult, error) {
	if p.Mode == "url" || p.URL != "" {
		return nil, fmt.Errorf("it asks the person to open a page; servers behind the gateway may not")
	}
	c, err := s.requests.nextCall(ctx, 1, 0)
	if err != nil {
		return nil, err
	}
	if err := s.checkAllowed(c.ctx, requestElicitation); err != nil {
		return nil, err
	}
	form, err := formOf(p.RequestedSchema)
	if err != nil {
		return nil, err
	}
	message := aai.CleanText(s.cleanText(p.Message), maxQuestion)
	if fill := aai.ClientCapabilitiesOf(c.ctx).Elicit; fill != nil {
		fields, err := json.Marshal(form)
		if err != nil {
			return nil, err
		}
		defer actionctx.PauseDeadline(c.ctx)()
		filled, err := fill(c.ctx, aai.Form{Message: "The MCP server of " + s.app + " asks this, not the gateway:\n" +
			quoted(message), Fields: fields})
		if err != nil {
			return nil, err
		}
		return &sdk.ElicitResult{Action: filled.Action, Content: form.knownFields(filled.Values)}, nil
	}
	if s.asker == nil {
		return nil, fmt.Errorf("the client that made the call shows no forms, and there is no window")
	}
	q, values, ok := form.question(message)
	if !ok {
		return nil,
			fmt.Errorf("its form has text fields, which windows do not support; the client that made the call shows no forms")
	}
	q.Title, q.CallerIdentity = s.app+" asks", c.call.Caller.Identity
	answer, err := s.asker.Ask(c.ctx, q)
	if err != nil {
		return nil, err
	}
	if q.IsRefusal(answer.Choice) {
		return &sdk.ElicitResult{Action: "decline"}, nil
	}
	content, known := values[answer.Choice]
	if !known {
		return &sdk.ElicitResult{Action: "cancel"}, nil
	}
	return &sdk.ElicitResult{Action: "accept", Content: content}, nil
}

func quoted(text string) string {
	return aai.QuoteMark + strings.ReplaceAll(text, "\n", "\n"+aai.QuoteMark)
}

// form is a server's form, limited to the fields of the protocol.
type form struct {
	Type       string           `json:"type"`
	Properties map[string]field `json:"properties"`
	Required   []string         `json:"required,omitempty"`
}

// field is a field of a form.
type field struct {
	Type        string          `json:"type"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Format      string          `json:"format,omitempty"`
	Enum        []string        `json:"enum,omitempty"`
	EnumNames   []string        `json:"enumNames,omitempty"`
	OneOf       []option        `json:"oneOf,omitempty"`
	Items       *items          `json:"items,omitempty"`
	MinLength   *int            `json:"minLength,omitempty"`
	MaxLength   *int            `json:"maxLength,omitempty"`
	MinItems    *int            `json:"minItems,omitempty"`
	MaxItems    *int            `json:"maxItems,omitempty"`
	Minimum     json.RawMessage `json:"minimum,omitempty"`
	Maximum     json.RawMessage `json:"maximum,omitempty"`
	Default     json.RawMessage `json:"default,omitempty"`
}

// option is a choice with a title.
type option struct {
	Const string `json:"const"`
	Title string `json:"title,omitempty"`
}

// items describes the elements of a list.
type items struct {
	Type  string   `json:"type,omitempty"`
	Enum  []string `json:"enum,omitempty"`
	AnyOf []option `json:"anyOf,omitempty"`
}

// formOf parses a server's schema. It rejects forms that ask for a secret, because the protocol forbids them.
func formOf(schema any) (*form, error) {
	f := &form{Type: "object"}
	b, err := json.Marshal(schema)
	if err != nil || json.Unmarshal(b, f) != nil || f.Type != "object" && f.Type != "" {
		return nil, fmt.Errorf("its form cannot be read")
	}
	f.Type = "object"
	if len(f.Properties) > maxFields {
		return nil, fmt.Errorf("its form has %d fields; at most %d are shown", len(f.Properties), maxFields)
	}
	if f.Properties == nil {
		f.Properties = map[string]field{}
	}
	for name, p := range f.Properties {
		if sanitize.IsSecretName(name) || sanitize.IsSecretName(p.Title) {
			return nil, fmt.Errorf("its form asks for a secret (%s); forms may not", aai.CleanLabel(name, 60))
		}
		if !slices.Contains([]string{"string", "number", "integer", "boolean", "array"}, p.Type) ||
			aai.CleanLabel(name, 60) != name {
			return nil, fmt.Errorf("its form has a field of an unsupported kind (%s)", aai.CleanLabel(name, 60))
		}
		p.Title, p.Description, p.Format = aai.CleanLabel(p.Title, 100), aai.CleanLabel(p.Description, 300),
			aai.CleanLabel(p.Format, 20)
		clean(p.EnumNames)
		for i := range p.OneOf {
			p.OneOf[i].Title = aai.CleanLabel(p.OneOf[i].Title, 100)
		}
		f.Properties[name] = p
	}
	f.Required = slices.DeleteFunc(f.Required, func(name string) bool { _, is := f.Properties[name]; return !is })
	return f, nil
}

func clean(labels []string) {
	for i := range labels {
		labels[i] = aai.CleanLabel(labels[i], 100)
	}
}

// knownFields returns the values that belong to fields of the form.
func (f *form) knownFields(values map[string]any) map[string]any {
	kept := maps.Clone(values)
	maps.DeleteFunc(kept, func(name string, _ any) bool { _, is := f.Properties[name]; return !is })
	return kept
}

// question converts the form for a window. It returns ok only for a form with no field, or with one choice.
func (f *form) question(message string) (q aai.Question, values map[string]map[string]any, ok bool) {
	q = aai.Question{
		ID: "server", Channels: []aai.Channel{aai.DesktopDialog}, Choices: []aai.Choice{{ID: "no", Label: "Do not answer"}},
		Text: "A server that you allow to ask you asks this, not the gateway:\n" + quoted(message),
	}
	values = map[string]map[string]any{}
	add := func(label string, isForeign bool, content map[string]any) {
		id := fmt.Sprintf("choice%d", len(values)+1)
		q.Choices, values[id] = append(q.Choices, aai.Choice{ID: id, Label: label, IsForeign: isForeign}), content
	}
	if len(f.Properties) == 0 {
		add("Yes, go on", false, map[string]any{})
		return q, values, true
	}
	if len(f.Properties) > 1 {
		return q, nil, false
	}
	for name, p := range f.Properties {
		if label := strings.TrimSpace(p.Title + " " + p.Description); label != "" {
			q.Text += "\n" + quoted(label)
		}
		switch {
		case p.Type == "boolean":
			add("Yes", false, map[string]any{name: true})
			add("No", false, map[string]any{name: false})
		case p.Type == "string" && len(p.Enum) > 0:
			for i, value := range p.Enum {
				label := value
				if i < len(p.EnumNames) {
					label = p.EnumNames[i]
				}
				add(aai.CleanLabel(label, 60), true, map[string]any{name: value})
			}
		case p.Type == "string":
			for _, o := range p.OneOf {
				add(aai.CleanLabel(o.Title, 60), true, map[string]any{name: o.Const})
			}
		}
	}
	return q, values, len(values) > 0 && len(values) <= maxChoices
}
