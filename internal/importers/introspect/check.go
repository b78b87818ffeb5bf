package introspect

import (
	"context"
	"errors"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema"
)

// check reads every property as its tool would. It drops properties that cannot be read, and the return schema of
// those with a different type.
func (g *Generator) check(ctx context.Context, list []proposal, notes *noteList) ([]proposal, error) {
	var kept []proposal
	silent := 0
	for _, p := range list {
		if !p.property() {
			kept = append(kept, p)
			continue
		}
		value, err := g.ask.run(ctx, p.declared.Recipe.DBus)
		if err == nil {
			if err := fits(p.declared.Returns, value); err != nil {
				notes.add("%s does not give its declared type: %s", p.callee, err)
				p.declared.Returns = []byte(`{}`)
			}
			kept = append(kept, p)
			continue
		}
		e := aai.AsError(err)
		switch {
		case ctx.Err() != nil, e.Code == aai.AppNotRunning:
			return nil, e
		case e.Code == aai.Timeout:
			if silent++; silent >= maxTimeouts {
				return nil, e
			}
		}
		notes.add("%s is left out: it cannot be read: %s", p.callee, e.Message)
	}
	return kept, nil
}

// property reports whether a tool only reads properties.
func (p *proposal) property() bool {
	r := p.declared.Recipe.DBus
	return r.Property != "" && r.Access == "get" || p.group != nil
}

// fits returns an error if a value does not match a schema.
func fits(source []byte, value any) error {
	s, err := schema.Parse(source)
	if err != nil {
		return err
	}
	if s.Check == nil {
		return nil
	}
	if _, err := s.Check(value); err != nil {
		return errors.New(aai.AsError(err).Message)
	}
	return nil
}
