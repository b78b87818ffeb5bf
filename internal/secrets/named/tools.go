package named

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/schema"
)

// Names of the tools.
const (
	ToolList   = "secrets"
	ToolSet    = "secret_set"
	ToolRemove = "secret_remove"
)

// AgentTools returns the tools that agents may use too. They only read.
func AgentTools() []string { return []string{ToolList} }

const (
	noParams  = `{"type": "object", "additionalProperties": false, "properties": {}}`
	setParams = `{"type": "object", "additionalProperties": false, "required": ["name", "for"], "properties": {
		"name": {"type": "string", "minLength": 1, "description": "Calls use {{secret:NAME}}"},
		"for": {"type": "string", "minLength": 1, "description": "The only app, by id, or web origin that gets it"},
		"field": {"type": "string", "description": "The only field: its name, role:name or #id; of a tool the argument"},
		"totp": {"type": "boolean", "default": false, "description": "The value is a seed of one-time codes"},
		"ref": {"type": "string", "description": "Where a password manager has the value: pass:PATH, secret-service:attribute=value, op://VAULT/ITEM/FIELD, bw:ITEM"}}}`
	removeParams = `{"type": "object", "additionalProperties": false, "required": ["name"], "properties": {"name": {"type": "string", "minLength": 1}}}`
)

// setTimeout limits the time for a new secret, in which the person types it.
const setTimeout = 3 * time.Minute

// Tools returns the tools of the gateway's own app for secrets. The value of a secret is no parameter.
func (s *Store) Tools() []*aai.Tool {
	return []*aai.Tool{
		{
			Name: ToolList, Description: "List the person's secrets that you can fill in without seeing them, as {{secret:NAME}}, and the place that each is bound to",
			Params: schema.MustParse(noParams), Returns: aai.Schema{Source: answer.SchemaOf[[]answer.Secret]()}, Effect: aai.Reads,
			Assess: aai.Always(aai.Assessment{EffectInherent: true}), Run: s.list,
		},
		{
			Name: ToolSet, Description: "Ask the person for a secret that agents can fill into one place without seeing it",
			Params: schema.MustParse(setParams), Effect: aai.Changes, Run: s.set, Limits: aai.Limits{Timeout: setTimeout},
			Precheck: func(ctx context.Context, call *aai.Call) error { _, err := s.asked(ctx, call); return err },
		},
		{
			Name: ToolRemove, Description: "Remove a secret", Params: schema.MustParse(removeParams), Effect: aai.Changes, Run: s.remove,
		},
	}
}

// list lists the secrets without their values.
func (s *Store) list(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
	records, err := s.load(ctx)
	if err != nil {
		return nil, err
	}
	rows, lines := []answer.Secret{}, []string{}
	for _, r := range records {
		row := answer.Secret{Name: r.Name, For: r.Binding.Target(), Field: r.Binding.Field, Kind: "value", In: "gateway", Set: r.Set}
		line := fmt.Sprintf("{{secret:%s}} for %s", r.Name, row.For)
		if row.Field != "" {
			line += ", field " + row.Field
		}
		if r.IsCode {
			row.Kind = "totp"
			line += ", a one-time code"
		}
		if r.Ref != "" {
			row.In, _, _ = strings.Cut(r.Ref, ":")
		}
		rows, lines = append(rows, row), append(lines, line)
	}
	if len(rows) == 0 {
		lines = append(lines, "There are no secrets. The person sets one: aai-gateway secret set NAME --for https://…")
	}
	return &aai.Result{Data: rows, Text: strings.Join(lines, "\n")}, nil
}

// asked returns the record that a call to set a secret describes, without its value.
func (s *Store) asked(ctx context.Context, call *aai.Call) (record, error) {
	text := func(name string) string { value, _ := call.Args[name].(string); return value }
	r := record{Name: text("name"), Ref: text("ref"), Set: s.config.Now().UTC().Truncate(time.Second)}
	r.IsCode, _ = call.Args["totp"].(bool)
	if err := CheckName(r.Name); err != nil {
		return r, err
	}
	var err error
	if r.Binding, err = parseBinding(text("for"), text("field")); err != nil {
		return r, err
	}
	if r.Ref != "" {
		if _, _, err = sourceOf(r.Ref); err != nil {
			return r, err
		}
	}
	// The person should not type a value in vain.
	records, err := s.load(ctx)
	if err != nil {
		return r, err
	}
	if _, err := s.config.Seal(ctx, nil); err != nil {
		return r, unsealable(err)
	}
	i := slices.IndexFunc(records, func(old record) bool { return old.Name == r.Name })
	if i >= 0 && records[i].Binding != r.Binding {
		e := aai.Errorf(aai.InvalidParams, "name: the secret %s is there already, for %s", r.Name, records[i].Binding.Target())
		e.Delivery, e.Hint = aai.NotDelivered, "Take another name, or remove it first: aai-gateway secret remove "+r.Name
		return r, e
	}
	return r, nil
}

// minValue is the length of a value in bytes from which it is kept out of replies. A shorter one occurs in other texts.
const minValue = 6

// set asks the person for the value and keeps it.
func (s *Store) set(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	r, err := s.asked(ctx, call)
	if err != nil {
		return nil, err
	}
	if r.Ref == "" {
		if r.Value, err = s.config.AskValue(ctx, call, ValueRequest{r.Name, r.Binding.Target(), r.Binding.Field, r.IsCode}); err != nil {
			return nil, err
		}
		if _, wrong := parseSeed(r.Value); r.IsCode && wrong != nil {
			return nil, aai.Errorf(aai.InvalidParams, "the secret was not set: %w", wrong)
		}
		if len(r.Value) < minValue || len(r.Value) > maxValue || strings.ContainsAny(r.Value, "\r\n\t\x00") && r.Binding.Origin != "" {
			return nil, aai.Errorf(aai.InvalidParams, "the secret was not set: expected one line of %d bytes or more, since a shorter value occurs in other texts and could not be kept out of replies", minValue)
		}
	}
	err = s.change(ctx, func(records []record) ([]record, error) {
		return append(slices.DeleteFunc(records, func(old record) bool { return old.Name == r.Name }), r), nil
	})
	if err != nil {
		return nil, err
	}
	return &aai.Result{Text: fmt.Sprintf("The secret is set. Agents fill it in as {{secret:%s}}, for %s only.", r.Name, r.Binding.Target())}, nil
}

// remove removes a secret.
func (s *Store) remove(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	name, _ := call.Args["name"].(string)
	if _, err := s.find(ctx, name); err != nil {
		return nil, err
	}
	err := s.change(ctx, func(records []record) ([]record, error) {
		return slices.DeleteFunc(records, func(r record) bool { return r.Name == name }), nil
	})
	if err != nil {
		return nil, err
	}
	return &aai.Result{Text: "The secret " + name + " is removed."}, nil
}
