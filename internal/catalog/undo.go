package catalog

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/gybob/aai-gateway"
)

// An UndoTemplate describes how to undo a tool's action by a tool of the same app. Values are
// templates: "${args.name}" is an argument of the action, "${result}" or "${result.a.0}" its
// result or a part of it. A placeholder that is the whole text yields the value itself; within a
// longer text it yields the value as text.
type UndoTemplate struct {
	Tool        string          `json:"tool"`
	Args        json.RawMessage `json:"args,omitzero"` // an object of templates; nil: none
	Description string          `json:"says,omitzero"` // for people; a template
	Check       *UndoCheck      `json:"look,omitzero"` // nil: it cannot be checked whether the state is unchanged
}

// An UndoCheck describes how to check, by a reading tool of the same app, whether the state is
// still as the action left it.
type UndoCheck struct {
	Tool     string          `json:"tool"`
	Args     json.RawMessage `json:"args,omitzero"`
	Expected json.RawMessage `json:"left"` // template of the tool's result; members that it omits are not compared
}

// placeholderOpen begins a placeholder in a template; "}" ends it.
const placeholderOpen = "${"

// readUndo reads how to undo a tool. checkUndos checks the tools that it names, after all tools
// are read.
func (p *parser) readUndo(m *members) *UndoTemplate {
	n := m.take("undo")
	if n == nil {
		return nil
	}
	of := p.members(n, ` such as {"tool": "restore", "args": {"id": "${args.id}"}}`)
	b := &UndoTemplate{Tool: of.must("expected a tool of the same app", "tool"), Description: of.text("says"),
		Args: p.templates(of)}
	if at := of.take("look"); at != nil {
		look := p.members(at, ` such as {"tool": "get", "left": {"value": "${args.value}"}}`)
		b.Check = &UndoCheck{Tool: look.must("expected a tool of the same app", "tool"), Args: p.templates(look)}
		if left := look.node.Member("left"); left != nil {
			left.Mark = true // null is a value here
			b.Check.Expected = compact(left)
		} else {
			p.fault(look.pathOf("left"), "missing; expected the tool's answer while the call's effect is unchanged")
		}
		look.unknown()
	}
	of.unknown()
	return b
}

// templates reads the arguments of an undo's call; nil: none.
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

// compact returns a value as compact JSON, and marks its members as used.
func compact(n *node) json.RawMessage {
	markAllUsed(n)
	value := jsontext.Value(n.JSON()).Clone()
	if n.First == nil || value.Compact() != nil {
		return json.RawMessage(n.JSON())
	}
	return json.RawMessage(value)
}

// checkUndos checks the undo declarations of the section's tools.
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
		if by := p.checkUndoCall(s, d, look, d.Undo.Check.Tool); by != nil &&
			p.effect(by.Effect, kindOf(p.kinds, by.Recipe).inherentEffect(by.Recipe)) != aai.Reads {
			p.fault(look.Member("tool").Path(), "is %q, which may change something; expected a tool that reads", by.Name)
		}
	}
}

// checkUndoCall checks that the section has the tool, and that the tool accepts the arguments. It
// returns the tool, or nil if it is absent.
func (p *parser) checkUndoCall(s *section, d *ToolDeclaration, at *node, name string) *ToolDeclaration {
	if name == "" {
		return nil // reported before
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
	_ = json.Unmarshal(by.Params, &params) // it was validated as a schema
	for _, name := range params.Required {
		if !slices.Contains(given, name) {
			p.fault(at.Path(), "does not give %q, which %q requires", aai.CleanLabel(name, maxName), by.Name)
		}
	}
	return by
}

// checkUndoTexts checks that each "${…}" of a template is an argument or the result.
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
				p.fault(n.Path(), "has ${%s}; expected ${args.name} with a parameter of %q, or ${result}",
					aai.CleanLabel(name, maxName), d.Name)
			case slices.Contains(p.schemaFacts(d.Params).SecretNames, param):
				p.fault(n.Path(), "has ${%s}, which is a secret; undo arguments are stored", aai.CleanLabel(name, maxName))
			}
		}
	}
	for c := n.First; c != nil; c = c.Next {
		p.checkUndoTexts(d, c)
	}
}

// placeholderNames returns the names in the "${…}" of a text. An unclosed one counts too.
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
