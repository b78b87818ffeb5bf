package catalog

import (
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
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
		if file := m.flag("file"); file != nil {
			s.File = *file
		}
		if s.Media = m.text("media"); s.Media != "" && !sanitize.IsMediaType(s.Media) {
			p.fault(m.pathOf("media"), "is %q; expected a media type such as image/png", aai.CleanLabel(s.Media, maxName))
		}
		if s.File && p.o.Origin != "" {
			p.fault(m.pathOf("file"), "sends a file of this computer; a descriptor from the web may not")
		}
		if s.In == "" && c.Member("in") == nil {
			p.fault(m.pathOf("in"), `missing; expected "path", "query", "header", "cookie" or "body"`)
		}
		m.unknown()
		sends[c.Name] = s
	}
	return sends
}

// A usualAssessment is the assessment of tools that send no files.
type usualAssessment struct {
	isInherent, mayStart bool
	kind                 aai.Kind
}

// always returns aai.Always(u), one function for all tools with u.
func (r *reader) always(u usualAssessment) func(*aai.Call) aai.Assessment {
	f := r.assess[u]
	if f == nil {
		if r.assess == nil {
			r.assess = make(map[usualAssessment]func(*aai.Call) aai.Assessment)
		}
		f = aai.Always(aai.Assessment{EffectInherent: u.isInherent, Kind: u.kind, MayStartProgram: u.mayStart})
		r.assess[u] = f
	}
	return f
}

// withFiles returns an Assess function that names the files of a call.
func (p *parser) withFiles(r *aai.Recipe, u usualAssessment) func(*aai.Call) aai.Assessment {
	var params []string
	if r.HTTP != nil {
		for name, s := range r.HTTP.Send {
			if s.File {
				params = append(params, name)
			}
		}
	}
	if params == nil {
		return p.reader.always(u)
	}
	slices.Sort(params)
	usual := p.reader.always(u)
	return func(call *aai.Call) aai.Assessment {
		assessed := usual(call)
		for _, name := range params {
			if call == nil {
				break
			}
			values, many := call.Args[name].([]any)
			if !many {
				values = []any{call.Args[name]}
			}
			for _, value := range values {
				if file, named := value.(string); named {
					assessed.ReadsFiles = append(assessed.ReadsFiles, file)
					assessed.FilesGoTo = r.HTTP.Address()
				}
			}
		}
		return assessed
	}
}
