package generate

import (
	"context"
	"encoding/json"

	"aai"
	"aai/internal/catalog"
	"aai/internal/lint"
	"aai/internal/schema"
)

// over makes a draft the next version of what is there, and returns that: the words that
// people, or a model, gave its tools stay but for better ones, a higher effect stays, and the
// version is raised by as much as the change needs. words are what [bettering] gives.
func (g *Generator) over(ctx context.Context, d *Draft, better bettering) (before []byte, words json.RawMessage, err error) {
	if before, err = g.shelf().Read(d.Document.ID); err != nil {
		return nil, nil, err
	}
	var old *catalog.Descriptor
	if before != nil {
		if old, err = catalog.Parse(before, catalog.Options{Host: "linux"}); err != nil {
			d.Notes = append(d.Notes, "what is there is refused by the gateway, and is replaced: "+aai.AsError(err).Message)
		}
	}
	if old == nil {
		words, err = better(ctx, d)
		return before, words, err
	}
	if old.Document.Generated == nil {
		d.Notes = append(d.Notes, "people wrote what is there; look at what of it would go")
	}
	d.Document, _ = Improve(d.Document, old.Document)
	d.Document.Version = old.Document.Version
	if words, err = better(ctx, d); err != nil {
		return nil, nil, err
	}
	c, err := lint.Compare(before, d.Text, catalog.Options{Host: "linux"})
	if err != nil || c.Needed == lint.NoBump {
		return before, words, nil //nolint:nilerr // without a version there is nothing to raise
	}
	if raised, ok := lint.Next(old.Document.Version, c.Needed); ok {
		d.Document.Version = raised
	}
	return before, words, d.write()
}

// probe tries one tool. That the person wants it the gate has seen to.
func (g *Generator) probe(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	r := requestOf(call)
	g = g.starting(r)
	draft, err := g.Draft(ctx, r)
	if err != nil {
		return nil, undelivered(err)
	}
	name, _ := call.Args["tool"].(string)
	given, _ := call.Args["args"].(map[string]any)
	var all []string
	for _, t := range draft.Document.Sections[0].Tools {
		if all = append(all, t.Name); t.Name != name {
			continue
		}
		params, err := schema.Parse(t.Params)
		if err != nil {
			return nil, undelivered(err)
		}
		if given == nil {
			given = map[string]any{}
		}
		checked, err := params.Check(given)
		if err != nil {
			return nil, undelivered(err)
		}
		args, _ := checked.(map[string]any)
		value, err := g.ask.try(ctx, t.Recipe, args)
		if err != nil {
			return nil, err
		}
		result := &aai.Result{Data: map[string]any{"tool": name, "answer": value}}
		if err := fits(t.Returns, value); err != nil {
			result.Warning = "the answer is not what the descriptor says: " + err.Error()
		}
		return result, nil
	}
	e := aai.Errorf(aai.ToolNotFound, "tool: what is generated of %s has no tool %q", draft.Document.ID, aai.CleanLabel(name, 64))
	e.Candidates, e.Delivery = aai.Nearest(name, all, 5), aai.NotDelivered
	return nil, e
}
