package introspect

import (
	"context"
	"encoding/json"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/catalog/lint"
	"github.com/gybob/aai-gateway/internal/schema"
)

// mergeExisting makes the draft the next version of the existing descriptor. Edited texts stay
// unless better provides new ones, a higher effect stays, and the version is raised as required.
// words is the result of [wordsProvider].
func (d *Draft) mergeExisting(ctx context.Context, before []byte,
	better wordsProvider) (words json.RawMessage, err error) {
	var old *catalog.Descriptor
	if before != nil {
		if old, err = catalog.Parse(before, catalog.Options{HostPlatform: "linux"}); err != nil {
			d.Notes = append(d.Notes, "the gateway refuses the old descriptor, and replaces it: "+aai.AsError(err).Message)
		}
	}
	if old == nil {
		return better(ctx, d)
	}
	if old.Document.Generated == nil {
		d.Notes = append(d.Notes, "the old descriptor was written by hand; look at the lines that go")
	}
	d.Document, _ = MergeWords(d.Document, old.Document)
	d.Document.Version = old.Document.Version
	if words, err = better(ctx, d); err != nil {
		return nil, err
	}
	c, err := lint.Compare(before, d.Text, catalog.Options{HostPlatform: "linux"})
	if err != nil || c.RequiredBump == answer.NoBump {
		return words, nil //nolint:nilerr // a descriptor without a version stays without one
	}
	if raised, ok := lint.NextVersion(old.Document.Version, c.RequiredBump); ok {
		d.Document.Version = raised
	}
	return words, d.write()
}

// probe runs one tool. The policy has already obtained the person's consent.
func (g *Generator) probe(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	r := requestOf(call)
	g = g.withStart(r)
	draft, err := g.Draft(ctx, r)
	if err != nil {
		return nil, markUndelivered(err)
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
			return nil, markUndelivered(err)
		}
		if given == nil {
			given = map[string]any{}
		}
		checked, err := params.Check(given)
		if err != nil {
			return nil, markUndelivered(err)
		}
		args, _ := checked.(map[string]any)
		value, err := g.ask.runRecipe(ctx, t.Recipe, args)
		if err != nil {
			return nil, err
		}
		result := &aai.Result{Data: map[string]any{"tool": name, "answer": value}}
		if err := fits(t.Returns, value); err != nil {
			result.Warning = "the answer does not fit the descriptor: " + err.Error()
		}
		return result, nil
	}
	e := aai.Errorf(aai.ToolNotFound, "tool: the draft of %s has no tool %q", draft.Document.ID, aai.CleanLabel(name, 64))
	e.Candidates, e.Delivery = aai.Nearest(name, all, 5), aai.NotDelivered
	return nil, e
}
