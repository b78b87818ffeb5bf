package catalog

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/gybob/aai-gateway"
)

// A Back is how what a tool did is taken back, by a tool of the same app. Values are
// templates: "${args.name}" is an argument of the act, "${result}" or "${result.a.0}" what it
// answered or a part of that; each is the value itself where the text is nothing else, and
// its words within a longer one.
type UndoTemplate struct {
	Tool        string          `json:"tool"`
	Args        json.RawMessage `json:"args,omitzero"` // an object of templates; nil: none
	Description string          `json:"says,omitzero"` // for people; a template
	Check       *UndoCheck      `json:"look,omitzero"` // nil: nobody can look whether it is still as it was left
}

// A Sight is how to look whether the world is still as an act left it, by a tool of the
// same app that only reads.
type UndoCheck struct {
	Tool     string          `json:"tool"`
	Args     json.RawMessage `json:"args,omitzero"`
	Expected json.RawMessage `json:"left"` // a template of what it answers; of an object that is written here the listed members alone are compared
}

// placeholderOpen begins the name of a value in a template; "}" ends it.
const placeholderOpen = "${"

// readUndo reads how a tool is taken back. What it names is looked for by checkBacks, when
// all tools are read.
func (p *parser) readUndo(m *members) *UndoTemplate {
	n := m.take("undo")
	if n == nil {
		return nil
	}
	of := p.members(n, ` such as {"tool": "restore", "args": {"id": "${args.id}"}}`)
	b := &UndoTemplate{Tool: of.must("expected a tool of the same app", "tool"), Description: of.text("says"), Args: p.templates(of)}
	if at := of.take("look"); at != nil {
		look := p.members(at, ` such as {"tool": "get", "left": {"value": "${args.value}"}}`)
		b.Check = &UndoCheck{Tool: look.must("expected a tool of the same app", "tool"), Args: p.templates(look)}
		if left := look.node.Member("left"); left != nil {
			left.Mark = true // null is a value here
			b.Check.Expected = compact(left)
		} else {
			p.fault(look.pathOf("left"), "missing; expected what the tool answers while nobody has changed what the act left")
		}
		look.unknown()
	}
	of.unknown()
	return b
}

// templates reads the arguments of a call.
func (p *parser) templates(m *members) json.RawMessage {
	n := m.take("args")
	if n == nil {
		return nil
	}
	if n.Kind != object {
		p.fault(n.Path(), "is %s; expected an object of arguments", n.KindName())
		return nil
	}
	return compact(n)
}

// compact is a value as JSON without spaces.
func compact(n *node) json.RawMessage {
	markAllUsed(n)
	value := jsontext.Value(n.JSON()).Clone()
	if n.First == nil || value.Compact() != nil {
		return json.RawMessage(n.JSON())
	}
	return json.RawMessage(value)
}

// checkUndos looks whether there is what the section's tools are taken back by.
func (p *parser) checkUndos(s *section) {
	for i := range s.Tools {
		d, at := &s.Tools[i], s.nodes[i].Member("undo")
		if d.Undo == nil || at == nil || at.Kind != object {
			continue
		}
		p.checkUndoCall(s, d, at, d.Undo.Tool)
		p.checkUndoTexts(d, at.Member("says"))
		look := at.Member("look")
		if d.Undo.Check == nil || look == nil {
			continue
		}
		p.checkUndoTexts(d, look.Member("left"))
		if by := p.checkUndoCall(s, d, look, d.Undo.Check.Tool); by != nil && p.effect(by.Effect, kindOf(p.kinds, by.Recipe).inherentEffect(by.Recipe)) != aai.Reads {
			p.fault(look.Member("tool").Path(), "is %q, which does not only read; expected a tool to look with", by.Name)
		}
	}
}

// checkUndoCall looks whether the section has the tool, and it takes what it is to be given. It
// returns the tool, nil where there is none.
func (p *parser) checkUndoCall(s *section, d *ToolDeclaration, at *node, name string) *ToolDeclaration {
	if name == "" {
		return nil // reported already
	}
	i := slices.IndexFunc(s.Tools, func(other ToolDeclaration) bool { return other.Name == name })
	if i < 0 {
		names := make([]string, len(s.Tools))
		for i := range s.Tools {
			names[i] = s.Tools[i].Name
		}
		problem := "is %q; expected a tool of the same app"
		if near := aai.Nearest(name, names, 1); len(near) > 0 {
			problem += ` (did you mean "` + near[0] + `"?)`
		}
		p.fault(at.Member("tool").Path(), problem, aai.CleanLabel(name, maxName))
		return nil
	}
	by, args := &s.Tools[i], at.Member("args")
	given := []string{}
	if args != nil {
		for c := args.First; c != nil; c = c.Next {
			if given = append(given, c.Name); !slices.Contains(by.Recipe.Params, c.Name) {
				p.fault(c.Path(), "is no parameter of %q", by.Name)
			}
		}
		p.checkUndoTexts(d, args)
	}
	var params struct{ Required []string }
	_ = json.Unmarshal(by.Params, &params) // it was read as a schema
	for _, name := range params.Required {
		if !slices.Contains(given, name) {
			p.fault(at.Path(), "does not give %q, which %q requires", aai.CleanLabel(name, maxName), by.Name)
		}
	}
	return by
}

// checkUndoTexts looks whether each "${…}" of a template is an argument or the result.
func (p *parser) checkUndoTexts(d *ToolDeclaration, n *node) {
	if n == nil {
		return
	}
	if n.Kind == text {
		for _, name := range placeholderNames(n.Text) {
			from, rest, _ := strings.Cut(name, ".")
			param, _, _ := strings.Cut(rest, ".")
			switch {
			case from == "result":
			case from != "args" || !slices.Contains(d.Recipe.Params, param):
				p.fault(n.Path(), "has ${%s}; expected ${args.name} with a parameter of %q, or ${result}", aai.CleanLabel(name, maxName), d.Name)
			case slices.Contains(p.schemaFacts(d.Params).SecretNames, param):
				p.fault(n.Path(), "has ${%s}, which is a secret; what takes an act back is kept", aai.CleanLabel(name, maxName))
			}
		}
	}
	for c := n.First; c != nil; c = c.Next {
		p.checkUndoTexts(d, c)
	}
}

// placeholderNames are the names in the "${…}" of a text. One that is not closed is a name too.
func placeholderNames(text string) (names []string) {
	for rest := text; ; {
		_, after, found := strings.Cut(rest, placeholderOpen)
		if !found {
			return names
		}
		name, tail, _ := strings.Cut(after, "}")
		names, rest = append(names, name), tail
	}
}
