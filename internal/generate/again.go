package generate

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"aai"
	"aai/internal/catalog"
	"aai/internal/lint"
	"aai/internal/schema"
	"aai/internal/wholefile"
)

// maxLooked is how large a descriptor may be that is looked at, in bytes.
const maxLooked = 1 << 20

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

// maxChecked is how many descriptors are looked at.
const maxChecked = 100

// A checkRow is what became of the source of one descriptor.
type checkRow struct {
	State string `json:"state"` // current, changed, or unknown
	App   string `json:"app"`
	Why   string `json:"why,omitempty"`
	Path  string `json:"path"`
}

// checkAll looks at every program of which a descriptor was generated. It starts none.
func (g *Generator) checkAll(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
	rows := []checkRow{}
	files, err := filepath.Glob(filepath.Join(g.cfg.Folder, "*", catalog.FileName))
	if err != nil || g.cfg.Folder == "" || g.cfg.Driver == nil {
		return &aai.Result{Data: rows}, nil //nolint:nilerr // such a folder has none
	}
	for _, path := range files {
		text, err := wholefile.Read(path, wholefile.Limits{Size: maxLooked})
		if err != nil || len(rows) == maxChecked {
			continue
		}
		d, err := catalog.Parse(text, catalog.Options{Host: "linux"})
		if err != nil || d.Document.Generated == nil {
			continue
		}
		name, ok := strings.CutPrefix(d.Document.Generated.From, fromBus)
		if !ok {
			continue
		}
		row := checkRow{App: d.Document.ID, Path: path, State: "current"}
		digest, err := g.digestOf(ctx, name, d.Document)
		switch {
		case err != nil:
			row.State, row.Why = "unknown", aai.AsError(err).Message
		case digest != d.Document.Generated.Digest:
			row.State, row.Why = "changed", "run: aai-gateway generate "+name
		}
		rows = append(rows, row)
	}
	return &aai.Result{Data: rows}, nil
}

// digestOf names what a program says of itself now. A program that does not run is not
// started.
func (g *Generator) digestOf(ctx context.Context, name string, d *catalog.Document) (string, error) {
	bus := ""
	if len(d.Sections) > 0 {
		bus = d.Sections[0].Bus
	}
	f, err := g.find(ctx, name, bus)
	if err != nil {
		return "", err
	}
	if !f.running {
		return "", aai.Errorf(aai.AppNotRunning, "it does not run")
	}
	s, err := g.walk(ctx, f, &noted{})
	if err != nil {
		return "", err
	}
	return s.digest()
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
