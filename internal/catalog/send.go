package catalog

import (
	"slices"

	"github.com/gybob/aai-gateway"
)

// sends reads the places and encodings of a web tool's parameters.
func (p *parser) sends(tool *members, r *aai.Recipe) map[string]aai.SendRecipe {
	n := tool.take("send")
	if n == nil {
		return nil
	}
	if n.Kind != object {
		p.fault(n.Path(), "is %s; expected an object with a member for each parameter", n.KindName())
		return nil
	}
	sends := make(map[string]aai.SendRecipe)
	for c := n.First; c != nil; c = c.Next {
		if !slices.Contains(r.Params, c.Name) {
			p.fault(c.Path(), "is no parameter of the tool; expected one of its properties")
			continue
		}
		m := p.members(c, ` such as {"in": "query"}`)
		s := aai.SendRecipe{
			In: m.word("in", "path", "query", "header", "cookie", "body"), Name: m.text("name"),
			Style: m.word("style", "simple", "label", "matrix", "form", "spaceDelimited", "pipeDelimited",
				"deepObject", "json"),
			Explode: m.flag("explode"),
		}
		if whole := m.flag("whole"); whole != nil {
			s.Whole = *whole
		}
		if reserved := m.flag("reserved"); reserved != nil {
			s.Reserved = *reserved
		}
		if s.In == "" && c.Member("in") == nil {
			p.fault(m.pathOf("in"), `missing; expected "path", "query", "header", "cookie" or "body"`)
		}
		m.unknown()
		sends[c.Name] = s
	}
	return sends
}
